"""An experiment that is going on: the agent, its durable state, and what it says about itself."""

from robai._core.player import HorizonReached
from robai.live.agent import Agent, load
from robai.live.differences import Difference
from robai.live.store import Store
from robai.live.stored import AnswerConflict, StoredAgent, Ticket

__all__ = [
    "Agent",
    "AnswerConflict",
    "Difference",
    "HorizonReached",
    "Store",
    "StoredAgent",
    "Ticket",
    "load",
]
