"""An experiment that is going on: the agent, its durable state, and what it says about itself."""

from robai._core.player import HorizonReached
from robai.live.agent import Agent, load
from robai.live.journal import Journal

__all__ = ["Agent", "HorizonReached", "Journal", "load"]
