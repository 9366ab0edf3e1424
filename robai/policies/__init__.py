"""The policies: each is an exploration rule, a stopping rule and a commitment rule.

`parts()` shows the three:

>>> import robai
>>> robai.EOCPUG().parts().stop
Imbalance(inflation=1.0)

`POLICIES` lists them all by the name that the command line uses.
"""

from robai.policies.base import BasePolicy, Policy
from robai.policies.baselines import (
    BAIETC,
    DETC,
    DETCK,
    KLUCB,
    UCB,
    UCBV,
    ActionElimination,
    ThompsonSampling,
    TrackAndStop,
    UCBAlpha,
)
from robai.policies.identification import (
    EBTCI,
    KLLUCB,
    LUCB,
    T3C,
    TTTS,
    TTUCB,
    LilUCB,
    Racing,
    SequentialHalving,
    SuccessiveRejects,
    TopTwo,
    UGapE,
    Uniform,
)
from robai.policies.lead import LeadCommit
from robai.policies.paper import EOCP, EOCPUG, KLEOCP, KLEOCPUG
from robai.policies.regret import ETC, IMED, MOSS, SPRTETC, AdaUCB, BayesUCB

__all__ = [
    "BAIETC",
    "DETC",
    "DETCK",
    "EBTCI",
    "EOCP",
    "EOCPUG",
    "ETC",
    "IMED",
    "KLEOCP",
    "KLEOCPUG",
    "KLLUCB",
    "KLUCB",
    "LUCB",
    "MOSS",
    "SPRTETC",
    "T3C",
    "TTTS",
    "TTUCB",
    "UCB",
    "UCBV",
    "ActionElimination",
    "AdaUCB",
    "BayesUCB",
    "LeadCommit",
    "LilUCB",
    "Policy",
    "Racing",
    "SequentialHalving",
    "SuccessiveRejects",
    "ThompsonSampling",
    "TopTwo",
    "TrackAndStop",
    "UCBAlpha",
    "UGapE",
    "Uniform",
]

POLICIES: dict[str, type[BasePolicy]] = {
    "eocp": EOCP,
    "eocp-ug": EOCPUG,
    "kl-eocp": KLEOCP,
    "kl-eocp-ug": KLEOCPUG,
    "lead-commit": LeadCommit,
    "ucb": UCB,
    "kl-ucb": KLUCB,
    "ucb-v": UCBV,
    "moss": MOSS,
    "imed": IMED,
    "ada-ucb": AdaUCB,
    "bayes-ucb": BayesUCB,
    "thompson": ThompsonSampling,
    "bai-etc": BAIETC,
    "etc": ETC,
    "sprt-etc": SPRTETC,
    "detc": DETC,
    "detc-k": DETCK,
    "ucb-alpha": UCBAlpha,
    "track-and-stop": TrackAndStop,
    "action-elimination": ActionElimination,
    "uniform": Uniform,
    "kl-lucb": KLLUCB,
    "lucb": LUCB,
    "ugape": UGapE,
    "lil-ucb": LilUCB,
    "top-two": TopTwo,
    "ttts": TTTS,
    "t3c": T3C,
    "tt-ucb": TTUCB,
    "eb-tci": EBTCI,
    "racing": Racing,
    "sequential-halving": SequentialHalving,
    "successive-rejects": SuccessiveRejects,
}
