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
from robai.policies.lead import LeadCommit
from robai.policies.paper import EOCP, EOCPUG, KLEOCP, KLEOCPUG
from robai.policies.regret import ETC, IMED, MOSS, SPRTETC, AdaUCB, BayesUCB

__all__ = [
    "BAIETC",
    "DETC",
    "DETCK",
    "EOCP",
    "EOCPUG",
    "ETC",
    "IMED",
    "KLEOCP",
    "KLEOCPUG",
    "KLUCB",
    "MOSS",
    "SPRTETC",
    "UCB",
    "UCBV",
    "ActionElimination",
    "AdaUCB",
    "BayesUCB",
    "LeadCommit",
    "Policy",
    "ThompsonSampling",
    "TrackAndStop",
    "UCBAlpha",
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
}
