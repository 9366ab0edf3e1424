"""Seeds: everything that NumPy takes as one, or an error."""

import re

import numpy as np
import pytest
from test_simulate import POLICY, played

import robai


def test_the_same_seed_gives_the_same_numbers_and_another_gives_others():
    assert played(rng=7) == played(rng=7)
    assert (played(rng=7).final_regret != played(rng=8).final_regret).any()


def test_no_seed_gives_new_numbers_every_time():
    assert (played(rng=None).final_regret != played(rng=None).final_regret).any()


def test_a_seed_sequence_is_a_seed_with_its_spawn_key():
    first, second = np.random.SeedSequence(7).spawn(2)
    assert played(rng=np.random.SeedSequence(7)) == played(rng=7)
    assert played(rng=first) == played(rng=np.random.SeedSequence(7, spawn_key=(0,)))
    assert (played(rng=first).final_regret != played(rng=second).final_regret).any()
    assert (played(rng=first).final_regret != played(rng=7).final_regret).any()
    assert played(rng=np.random.SeedSequence([1, 2])) == played(rng=np.random.SeedSequence([1, 2]))


def test_a_seed_sequence_is_left_as_it_is():
    sequence = np.random.SeedSequence(7)
    played(rng=sequence)
    assert sequence.n_children_spawned == 0


def test_a_generator_is_a_seed_and_moves_on():
    generator = np.random.default_rng(3)
    first, second = played(rng=generator), played(rng=generator)
    assert (first.final_regret != second.final_regret).any()
    assert first == played(rng=np.random.default_rng(3))


@pytest.mark.parametrize(
    "rng", [None, 5, np.random.SeedSequence(9, spawn_key=(2,)), np.random.default_rng(1)]
)
def test_the_seed_in_meta_gives_the_same_numbers(rng):
    result = played(rng=rng)
    entropy = [int(word) for word in result.meta["entropy"]]
    entropy = entropy[0] if len(entropy) == 1 else entropy
    seed = np.random.SeedSequence(entropy, spawn_key=result.meta["spawn_key"])
    assert played(rng=seed) == result


@pytest.mark.parametrize("kind", [np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64])
def test_a_generator_of_any_kind_is_a_seed(kind):
    assert played(rng=np.random.Generator(kind(3))) == played(rng=np.random.Generator(kind(3)))


@pytest.mark.parametrize("words", [(1, 2), np.array([1, 2], dtype=np.uint32), [np.uint8(1), 2], range(1, 3)])
def test_the_words_of_a_seed_sequence_can_be_of_any_type(words):
    assert played(rng=np.random.SeedSequence(words)) == played(rng=np.random.SeedSequence([1, 2]))


@pytest.mark.parametrize(
    ("rng", "error", "message"),
    [
        (np.random.SeedSequence(7, pool_size=8), ValueError, "rng must have a pool_size of 4, got .*8"),
        (np.random.SeedSequence(["12"]), TypeError, "rng must have whole numbers as its entropy, got .*12"),
        (np.random.PCG64(7), TypeError, "rng must be .*Generator, got .*PCG64"),
        (np.random.RandomState(7), TypeError, "rng must be .*Generator, got .*MT19937"),
    ],
)
def test_a_seed_that_would_not_be_honoured_is_refused(rng, error, message):
    with pytest.raises(error, match=re.compile(message, re.DOTALL)):
        played(rng=rng)
    with pytest.raises(error, match=re.compile(message, re.DOTALL)):
        robai.Agent(POLICY, 2, 100, reward=robai.families.Gaussian(1.0), rng=rng)


@pytest.mark.parametrize("rng", [np.int64(7), 7.0, np.uint8(7)])
def test_whole_numbers_of_any_type_are_seeds(rng):
    assert played(rng=rng) == played(rng=7)
