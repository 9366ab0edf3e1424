"""Jin, Xu, Xiao and Gu, "Double Explore-then-Commit", COLT 2021: an optimal policy that commits."""

import math
from itertools import pairwise

from robai import policies as p
from robai._base import verdicts
from robai._base.verdicts import Word
from robai.bandits import Gaussian
from robai.paper.claims import Claim, around, ratio_of_means, share_of, slope_near
from robai.paper.experiments import RegretExperiment
from robai.paper.growth import ends, exponent, gained
from robai.paper.study import Growing, Study
from robai.result import Comparison
from robai.result.digest import mean_over
from robai.theory import Asymptotics

_POLICIES = {"DETC": p.DETC(), "BAI-ETC": p.BAIETC(), "UCB": p.UCB()}
_HORIZONS = (10**6, 10**9, 10**12, 10**15, 10**18)

FIGURE = RegretExperiment(
    "two-arms", "Two Gaussian arms, gap 1/2", _POLICIES, Gaussian((0.5, 0.0)), (10**6,), 10_000, 1_000
)
GROWING = {
    name: RegretExperiment(name, name, _POLICIES, Gaussian((gap, 0.0)), _HORIZONS, 20_000, 1_000)
    for name, gap in (("gap-0.2", 0.2), ("gap-1", 1.0))
}


def _half(*played: Comparison) -> tuple[Word, str]:
    detc, etc = (gained(*ends(results[label] for results in played)) for label in ("DETC", "BAI-ETC"))
    ratio = ratio_of_means(detc, etc)
    numbers = (
        f"{detc.mean():.2f} / {etc.mean():.2f} = {ratio.value:.3f} ({ratio.low:.3f} to {ratio.high:.3f})"
    )
    return verdicts.within(ratio.interval, most=0.65), numbers


def _falling(*played: Comparison) -> tuple[Word, str]:
    steps = [gained(short["DETC"], long["DETC"]) for short, long in pairwise(played)]
    numbers = ", ".join(f"{each.value:.2f} ± {each.sem:.2f}" for each in map(mean_over, steps))
    fallen, last = (around(mean_over(each)) for each in (steps[0] - steps[-1], steps[-1]))
    return verdicts.together(
        [verdicts.above(fallen, 0.0), verdicts.above(last, 2.0)]
    ), f"{numbers}; the limit is 2"


def _squared(*played: Comparison) -> tuple[Word, str]:
    p = exponent(*ends(results["DETC"] for results in played))
    return verdicts.within(around(p), 1.7, 2.0), f"log^p T with p = {p.value:.2f} ± {p.sem:.2f}"


def _at_least(*played: Comparison) -> tuple[Word, str]:
    words, shortest = [], []
    for detc in (results["DETC"] for results in played):
        times = detc.commit_time[detc.committed] / math.log(detc.horizon) ** 2
        words.append(verdicts.within(share_of(times < 1.0), most=1e-3))
        shortest.append(times.min())
    return verdicts.together(words), "smallest T_c / log² T " + ", ".join(f"{each:.2f}" for each in shortest)


_ABOUT = (
    "The article could not be read again for this page: which experiments it has, if any, is not known. What "
    "is checked are its statements on regret and commitment, quoted from memory, on bandits, horizons and "
    "numbers of runs of ours."
)
_NOTES = {
    "Slope of DETC above 2/gap": (
        "The first stage plays both arms in turn until their means differ by sqrt((16/t) log+(log² T / t)). "
        "Its regret, of order log log T / gap with a constant of 16, comes to the 2/gap log T of the third "
        "stage, whose own level has log log T in it, too. Both vanish beside log T, slowly: the slope falls "
        "from horizon to horizon."
    ),
    "Exponent of the commitment below 2": (
        "The commitment waits for log² T pulls of the leading arm, and for those of the other one, of the "
        "order of log T / gap²: the smaller the gap, the later the first outweighs the second. At these "
        "horizons the exponent is about 1.3 with gap 1/5, and 1.9 with gap 1."
    ),
    "Wrong commitments with gap 1/5": (
        "With T = 1e6 the first stage ends, after log² T rounds at the latest, before arms so close are told "
        "apart; a few runs in a thousand then commit to the wrong arm, and their regret is most of the mean. "
        "From T = 1e9 on none was seen. Slopes are taken there."
    ),
    "Known gap": "The variant for a known gap, with regret log T / (2 gap), is not part of this package.",
}
_SLOPES_NOTE = (
    "Both columns of regret are per unit of log T: that of the article is the limit as T grows, ours the "
    "slope between two horizons, run by run with the same seeds. T_c / log² T of DETC comes down to 1."
)

STUDY = Study(
    name="jin2021",
    title="commitment without the loss of optimality",
    source=(
        "T. Jin, P. Xu, X. Xiao and Q. Gu, “Double Explore-then-Commit: Asymptotic Optimality and Beyond”, "
        "COLT 2021."
    ),
    figures={FIGURE.name: FIGURE},
    claims=(
        Claim(
            "DETC is asymptotically optimal without knowing the gap: regret 2/gap log T",
            "within 15 %, between T = 1e9 and 1e18",
            ("gap-0.2",),
            slope_near("DETC", 10.0, 0.15),
        ),
        Claim(
            "The limit is reached from above",
            "the last of four slopes is below the first, and above 2/gap",
            ("gap-1",),
            _falling,
        ),
        Claim("One exploration is not enough", "DETC's slope at most 0.65 of BAI-ETC's", ("gap-0.2",), _half),
        Claim("DETC explores for about log² T rounds", "1.7 <= p <= 2", ("gap-1",), _squared),
        Claim(
            "... and for no less",
            "at most 0.1 % of the commitments before log² T rounds",
            tuple(GROWING),
            _at_least,
        ),
    ),
    about=_ABOUT,
    notes=_NOTES,
    growing=Growing(
        name="slopes",
        title="Slopes, measured",
        experiments=GROWING,
        stated={
            row.policy: row
            for row in (
                Asymptotics("DETC", 1.0, "Gaussian", "Yes", "log² T", "-"),
                Asymptotics("BAI-ETC", 2.0, "Gaussian", "No", "O(log T)", "-"),
                Asymptotics("UCB", 1.0, "Gaussian", "Yes", "T", "N/A"),
            )
        },
        drawn=("gap-1",),
        note=_SLOPES_NOTE,
        caption="Gap 1. Left: regret divided by log T. Right: commitment time divided by log T; DETC's rises "
        "like log T itself.",
    ),
)
