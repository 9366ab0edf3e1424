"""What an agent is made of: what used to crash the interpreter."""

import pytest
from support.agents import twins

from robai._core.player import Player


def test_a_player_that_was_never_made_is_an_exception():
    with pytest.raises(TypeError):
        Player.__new__(Player)


def test_counts_that_do_not_fit_are_refused():
    (agent,) = twins(1)
    player = agent._player
    for counts in (
        ([1], [1.0], [0.0], [0], [], None),
        ([1] * 3, [1.0] * 3, [0.0] * 3, [0] * 2, [], None),
        ([1] * 3, [1.0] * 3, [0.0] * 2, [0] * 3, [], None),
        ([1] * 3, [1.0] * 3, [0.0] * 3, [0] * 3, [], (7, 3, [1] * 3, [1.0] * 3, None)),
        ([1] * 3, [1.0] * 3, [0.0] * 3, [0] * 3, [], (-1, 3, [1] * 3, [1.0] * 3, None)),
    ):
        with pytest.raises(ValueError, match=r"there must be 3|no arm"):
            player.restore(*counts)
    for number in (-1, 3, 2**62):
        with pytest.raises(IndexError):
            player.update(number, 1.0)
    assert agent.rounds == 0
