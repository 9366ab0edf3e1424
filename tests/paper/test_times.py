"""Table 1 of Garivier and Kaufmann: what is printed, what is matched, and its claims on crafted results."""

import math
import statistics

import pytest

from robai.bandits import Bernoulli
from robai.paper.experiments import Apart
from robai.paper.gallery import garivier2016
from robai.result import Identification, Identifications, Mean


def test_the_printed_table_is_the_remembered_one():
    four, five = garivier2016.FIGURES.values()
    assert (four.bandit.means, five.bandit.means) == ((0.5, 0.45, 0.43, 0.4), (0.3, 0.21, 0.2, 0.19, 0.18))
    printed = [
        {label: mean.value for label, mean in each.beside["printed (quoted from memory)"].items()}
        for each in (four, five)
    ]
    assert [list(each.values()) for each in printed] == [[4052, 4516, 8437, 9590], [1406, 3078, 2716, 3334]]
    for each in (four, five):
        assert (each.delta, each.runs, each.horizons) == (0.1, 3000, (10**6,))
        assert {policy.threshold for policy in each.policies.values()} == {"practical"}


def identified(label, times, arms=None, **more):
    """Runs on two arms that take so long and recommend arm 0, unless said."""
    arms = [0] * len(times) if arms is None else arms
    return Identification(
        stopping_time=times,
        recommended_arm=arms,
        pulls=[(time, 0) for time in times],
        gaps=[0.0, 0.1],
        means=[0.5, 0.4],
        horizon=10**6,
        delta=0.1,
        label=label,
        **more,
    )


def test_a_number_without_an_error_is_given_ours_for_the_same_runs():
    experiment = garivier2016.FIGURES["four-arms"]
    times = [4000, 4200, 3900, 4300, 4500]
    sem = statistics.stdev(times) / math.sqrt(5)
    apart = experiment.apart(identified("x", times), Mean(4052.0, math.nan))
    error = math.hypot(sem, sem * math.sqrt(5 / 3000))
    assert apart.ours == (pytest.approx(4180.0), pytest.approx(sem))
    assert apart.errors == pytest.approx(128 / error)
    assert apart.text() == f"{100 * 128 / 4052:+.1f} %, {128 / error:+.1f} s.e."
    known = experiment.apart(identified("x", times), Mean(4052.0, 30.0))
    assert known.text() == f"{128 / math.hypot(sem, 30.0):+.1f} s.e."


@pytest.mark.parametrize(
    ("ours", "sem", "verdict"),
    [
        (1039.0, 8.0, "not decided"),  # up to 1054.7, and 4.9 standard errors away
        (1020.0, 10.0, "matched"),  # up to 1039.6
        (1020.0, 10.5, "not decided"),  # up to 1040.6
        (980.0, 10.0, "matched"),
        (980.0, 10.5, "not decided"),
        (1080.0, 20.0, "not matched"),  # from 1040.8 on
        (1080.0, 21.0, "not decided"),
        (920.0, 20.0, "not matched"),
        (1001.0, 0.19, "not matched"),  # by 5.3 standard errors, if by a thousandth
        (1001.0, 0.21, "matched"),
        (999.0, 0.19, "not matched"),
    ],
)
def test_matched_is_within_errors_and_percents(ours, sem, verdict):
    assert Apart(Mean(ours, math.nan), Mean(1000.0, math.nan), sem, 0.04).verdict == verdict


def test_the_rows_of_the_table_say_what_is_matched():
    experiment = garivier2016.FIGURES["four-arms"]
    row = experiment.row(identified("KL-LUCB", [8000, 8100, 8900, 8200], [0, 0, 1, 0]))
    assert row["policy"] == "KL-LUCB"
    assert row["printed (quoted from memory)"] == "8,437"
    assert row["verdict"] == "matched"  # 8,300 ± 206
    assert row["median"] == "8,150"
    assert row["unfinished"] == "0"
    assert row["wrong or unfinished, 95 % interval"].startswith("1 of 4, ")
    assert experiment.row(identified("KL-LUCB", [80, 81, 89]))["verdict"] == "not matched"
    known = identified("KL-LUCB", [80, 81, 89], meta={"bandit": Bernoulli((0.5, 0.4)).to_dict()})
    assert experiment.row(known)["mean / lower bound"] == f"{250 / 3 / known.complexity.lower:.2f}"


def times_of(fast, slow, **others):
    """Identifications of the four policies of Table 1."""
    labels = dict.fromkeys(garivier2016.FIGURES["four-arms"].policies, slow) | {"Track-and-Stop (D)": fast}
    return Identifications(identified(label, others.get(label, times)) for label, times in labels.items())


def test_claims_of_the_identification_times():
    claims = {claim.criterion: claim.check for claim in garivier2016.STUDY.claims}
    first, half = claims["the smallest mean, 95 %"], claims["0.4 to 0.6 of the mean, 95 %"]
    confident = claims["wrong or unfinished in at most 10 % of the runs, 95 %"]
    fast, slow = [990, 1000, 1010], [1900, 2000, 2100]
    lead = ", ".join(f"0.50 of {label}'s" for label in ("Chernoff-Racing", "KL-LUCB", "KL-Racing"))
    assert first(times_of(fast, slow)) == ("holds", f"1,000, {lead}")
    assert first(times_of(slow, fast))[0] == "fails"
    assert first(times_of([900, 1000, 1100], [1100, 1010, 920]))[0] == "not decided"
    word, numbers = garivier2016.STUDY.claims[0].check(times_of(fast, slow))
    assert word == "fails"
    assert numbers.startswith(f"Track-and-Stop (D) 1,000 ± 6 for 4,052, {100 * (1000 / 4052 - 1):+.1f} %, ")
    residuals = [own - 0.5 * other for own, other in zip(fast, slow, strict=True)]
    reach = 1.96 * statistics.stdev(residuals) / math.sqrt(3) / 2000
    said = f"1,000 / 2,000 = 0.50 ({0.5 - reach:.2f} to {0.5 + reach:.2f})"
    assert half(times_of(fast, slow)) == ("holds", said)
    assert half(times_of(fast, fast))[0] == "fails"
    assert confident(times_of(fast, slow))[0] == "not decided"  # three runs cannot tell
    assert confident(times_of([10] * 40, [20] * 40))[0] == "holds"
    wrong = Identifications(
        identified(label, [10] * 40, [1] * 20 + [0] * 20) for label in times_of(fast, slow)
    )
    assert confident(wrong)[0] == "fails"
    lost = Identifications(identified(label, [10**6] * 40, [-1] * 40) for label in wrong)
    word, numbers = confident(lost)
    assert word == "fails"
    assert numbers.startswith("Track-and-Stop (D) 100 %, ")
