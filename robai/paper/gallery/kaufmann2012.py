"""Kaufmann, Korda and Munos, "Thompson Sampling: An Asymptotically Optimal Finite Time Analysis", 2012."""

from robai import policies as p
from robai.bandits import Bernoulli
from robai.paper.claims import Claim, below
from robai.paper.experiments import RegretExperiment
from robai.paper.gallery.garivier_cappe2011 import LOW_REWARDS
from robai.paper.study import Study

_POLICIES = {
    "Thompson": p.ThompsonSampling(prior="uniform"),
    "Bayes-UCB": p.BayesUCB(),
    "KL-UCB": p.KLUCB("round"),
    "UCB1": p.UCB("round", sigma=1.0),
}

FIGURES = {
    each.name: each
    for each in (
        RegretExperiment(
            "two-arms", "Two Bernoulli arms", _POLICIES, Bernoulli((0.2, 0.25)), (10**4,), 4_000, 500
        ),
        RegretExperiment(
            "low-rewards", "Ten Bernoulli arms of low means", _POLICIES, LOW_REWARDS, (10**4,), 1_000, 100
        ),
    )
}

_ABOUT = (
    "The article could not be read again for this page. Its settings are quoted from memory: the means (.2, "
    ".25), T = 10,000 and the uniform prior with confidence, the ten low means with less. It has figures and "
    "no tables, so that nothing stands beside our numbers; numbers of runs are ours."
)
_NOTES = {
    "Bayes-UCB": (
        "The quantile 1 - 1/t of the posterior (c = 0 in 1 - 1/(t log^c T)), as its authors ran it, here "
        "under Jeffreys' prior and after one pull of every arm; whether the article has it in its figures is "
        "not known."
    ),
    "Two arms so close": (
        "With (.2, .25) and 10,000 rounds no policy has found the better arm in all runs: the final regret "
        "of Thompson sampling varies more from run to run than that of UCB1. Its mean is far below."
    ),
}

STUDY = Study(
    name="kaufmann2012",
    title="Thompson sampling beside KL-UCB",
    source=(
        "E. Kaufmann, N. Korda and R. Munos, “Thompson Sampling: An Asymptotically Optimal Finite Time "
        "Analysis”, ALT 2012, arXiv 1205.4217."
    ),
    figures=FIGURES,
    claims=(
        Claim(
            "Thompson sampling has less regret than KL-UCB",
            "below KL-UCB and UCB1, 95 %",
            tuple(FIGURES),
            below("Thompson", "KL-UCB", "UCB1"),
        ),
        Claim(
            "So has the other Bayesian policy",
            "Bayes-UCB below KL-UCB and UCB1, 95 %",
            tuple(FIGURES),
            below("Bayes-UCB", "KL-UCB", "UCB1"),
        ),
    ),
    about=_ABOUT,
    notes=_NOTES,
)
