"""Settings of all tests, and every registered policy and bandit as a fixture."""

import gc
import os
import signal

import pytest
from hypothesis import settings
from support.examples import BANDITS, POLICIES

# The same examples in every run, and no limit of time: the machine may be busy.
settings.register_profile("robai", derandomize=True, deadline=None)
settings.load_profile("robai")
os.environ["PYTHONSAFEPATH"] = "1"  # child processes import the installed package, not this directory
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell takes from what it starts with `&`


def pytest_addoption(parser):
    parser.addoption("--every", type=int, default=1, metavar="N", help="only every N-th test, of slow builds")


def pytest_collection_modifyitems(config, items):
    every = config.getoption("--every")
    config.hook.pytest_deselected(items=[each for place, each in enumerate(items) if place % every])
    items[:] = items[::every]


@pytest.fixture(params=POLICIES, ids=lambda policy: policy.label())
def policy(request):
    return request.param


@pytest.fixture(params=BANDITS, ids=repr)
def bandit(request):
    return request.param


@pytest.fixture
def no_collections():
    """Interrupts are not to come in finalizers, of which nobody can be told, nor in those of hypothesis."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()
