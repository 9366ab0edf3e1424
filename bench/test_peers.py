"""The table of peers: the same game is timed, another one is not, and who cannot play says why."""

import re
from pathlib import Path

import pytest

import robai


@pytest.fixture(scope="module")
def peers():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parent))
        import peers

        yield peers


def fake(peers, start, distribution="numpy"):
    """A package that is always installed."""
    return peers.players.Peer(distribution, start, check_runs=500)


def playing(peers, policy, as_if):
    def play(means, horizon, runs, seed):
        return robai.simulate(policy, robai.Gaussian(means), horizon, runs, rng=seed + 10).final_regret

    return lambda: [peers.players.Game(as_if, robai.Gaussian, play)]


def shown(capsys, peers, arguments, *listed):
    """What it returns, and the rows of both tables."""
    status = peers.main(arguments, *listed)
    text = capsys.readouterr().out
    return status, re.findall(r"^\| .*\d .*\|$", text, re.M), text


def test_numba_plays_the_same_games(peers, capsys):
    pytest.importorskip("numba")
    status, rows, text = shown(capsys, peers, ["--quick", "--only", "numba"])
    assert status == 0
    assert len(rows) == 2 * 4
    assert all(row.startswith("| numba ") for row in rows)
    assert "Skipped" not in text


def test_another_game_is_not_timed(peers, capsys):
    for policy, as_if, same in (
        (robai.UCB(), robai.UCB(), True),
        (robai.UCB(sigma=2.0), robai.UCB(), False),
        (robai.ThompsonSampling(), robai.UCB(), False),
    ):
        peer = fake(peers, playing(peers, policy, as_if))
        status, rows, text = shown(capsys, peers, ["--quick"], [peer])
        assert (status, len(rows)) == ((0, 2) if same else (1, 0))
        assert ("numpy, UCB(), K = 2: not the same game, mean regrets: peer " in text) == (not same)


def test_who_cannot_play_says_why(peers, capsys):
    def broken():
        raise ImportError("cannot import\n  that")

    listed = [fake(peers, broken), fake(peers, broken, "no-such-package")]
    status, rows, text = shown(capsys, peers, ["--quick"], listed)
    assert (status, rows) == (0, [])
    assert "- numpy: fails: ImportError: cannot import that\n- no-such-package: not installed\n" in text
