"""Text that is printed: whatever a label or a file holds, it moves no cursor and ends no line."""

import numpy as np
import pytest

import robai
from robai._base.text import align, percent, printable
from robai.result import Comparison, Result

ODD = ["\x1b[2Jgone", "a\nb", "\r\x08\x7f", "\x9b31m", "left\u202eright", "\u2028", "\ud800", "tab\t"]


def make(label, meta=None):
    return Result(
        times=[10],
        regret=[1.5],
        regret_sem=[0.5],
        final_regret=[1.0, 2.0],
        commit_time=[5, 5],
        committed_arm=[0, 0],
        pulls=[[9, 1], [8, 2]],
        gaps=[0.0, 1.0],
        label=label,
        meta=meta or {},
    )


def is_plain(text):
    return all(each.isprintable() for each in text.split("\n"))


@pytest.mark.parametrize("odd", ODD)
def test_summaries_are_printable_whatever_the_labels_are(odd):
    result = make(odd, {"policy": odd, "bandit": odd, "engine": odd})
    plain = make("plain", {"policy": "plain", "bandit": "plain", "engine": "plain"})
    for one, other in ((result, plain), (Comparison([result]), Comparison([plain]))):
        assert is_plain(one.summary())
        assert one.summary().count("\n") == other.summary().count("\n")
    agent = robai.Agent(robai.EOCPUG(), [odd, "B"], 1000, reward=robai.families.Gaussian(1.0), rng=0)
    agent.update(agent.select(), 0.5)
    agent.update(agent.select(), 0.5)
    assert is_plain(agent.summary())


def test_what_is_escaped_can_still_be_told_apart_and_lines_up():
    rows = align([("a\x1b", "1", ""), ("longer name", "22", "")])
    assert rows == [r"a\x1b         1", "longer name  22"]
    assert printable("é ± 中 \x00") == r"é ± 中 \x00"


@pytest.mark.parametrize(("arms", "text"), [(1000, "1,000"), (10**4, "10,000")])
def test_many_means_are_counted(arms, text):
    result = robai.simulate(robai.UCB(), robai.Gaussian(np.linspace(1.0, 0.0, arms)), 10**4, 1, rng=0)
    for each in (result, Comparison([result])):
        assert f"Gaussian(means=({text} entries), sigma=1.0)" in each.summary()


def test_policies_and_bandits_are_shown_as_they_could_be_typed():
    bandit = robai.Binomial([0.7, 0.2], n=3)
    for policy in (robai.KLUCB("++", robai.families.Binomial(3)), robai.EOCPUG(), robai.EOCP(0.5)):
        summary = robai.simulate(policy, bandit, 50, 1, rng=0).summary()
        assert f" {policy!r}\nbandit" in summary
        assert f"\nbandit      {bandit!r}\n" in summary


def test_results_of_old_files_have_texts():
    result = make("mine", {"policy": "EOCP(gap=0.5)", "bandit": "Gaussian(means=(0.7, 0.2), sigma=1.0)"})
    assert (
        "\n            EOCP(gap=0.5)\nbandit      Gaussian(means=(0.7, 0.2), sigma=1.0)\n" in result.summary()
    )


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0 %"), (1.0, "100 %"), (0.5, "50 %"), (0.99991, "99.9910 %"), (1.25, "125 %"), (3.0, "300 %")],
)
def test_shares_and_ratios_are_percent(share, text):
    assert percent(share) == text
