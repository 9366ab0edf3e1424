"""The table of an agent: every number in its column, with rewards still to come."""

import math
import re

import pytest
from matplotlib.figure import Figure

import robai

HORIZON = 1000
LEVEL = math.log(HORIZON) + math.sqrt(math.log(HORIZON))


@pytest.fixture
def agent():
    """60 answers of 'a', 30 of 'b', 20 of 'c', and then pulls that wait."""
    agent = robai.Agent(robai.EOCPUG(), ["a", "b", "c"], HORIZON, reward=robai.families.Gaussian(1.0), rng=0)
    for arm, n, total in (("a", 60, 30.0), ("b", 30, 24.0), ("c", 20, 12.0)):
        agent.update_counts(arm, n, total)
    agent.select_batch(17)
    return agent


def test_the_columns(agent):
    waiting = agent.pending.tolist()
    assert sum(waiting) == 17
    for row, n, mean, pending in zip(agent.table(), (60, 30, 20), (0.5, 0.8, 0.6), waiting, strict=True):
        assert (row.pulls, row.pending, row.mean) == (n, pending, pytest.approx(mean))
        assert row.share == pytest.approx((n + pending) / 127)
        width = math.sqrt(2 * LEVEL / n)
        assert (row.lower, row.upper) == (pytest.approx(mean - width), pytest.approx(mean + width))
    assert [row.status for row in agent.table()] == ["exploring", "leading", "exploring"]


def test_the_text_has_them_in_their_columns(agent):
    table, level, _, differences = (part.splitlines() for part in agent.summary().split("\n\n")[1:])
    chance = f"either is wrong with probability {math.exp(-LEVEL):.2g} at most for given pulls"
    assert level == [f"lower and upper are of level {LEVEL:.4g}: {chance}"]
    header, *rows = (re.split(r"\s{2,}", line) for line in table)
    waiting = agent.pending.tolist()
    for cells, n, mean, pending in zip(rows, (60, 30, 20), (0.5, 0.8, 0.6), waiting, strict=True):
        row, width = dict(zip(header, cells, strict=True)), math.sqrt(2 * LEVEL / n)
        assert (row["pulls"], row["pending"]) == (str(n), str(pending))
        assert row["share"] == f"{100 * (n + pending) / 127:.0f} %"
        assert (row["mean"], row["lower"], row["upper"]) == tuple(
            f"{value:.4g}" for value in (mean, mean - width, mean + width)
        )
    header, *rows = (re.split(r"\s{2,}", line) for line in differences)
    for cells, each in zip(rows, agent.differences(), strict=True):
        row = dict(zip(header, cells, strict=True))
        assert (row["arm"], row["verdict"]) == (each.other, "open")
        assert (row["difference"], row["low"], row["high"]) == tuple(f"{end:.4g}" for end in each[2:5])
    assert agent.summary().splitlines()[0] == (
        "EOCPUG() is exploring: 127 of 1,000 rounds, 17 of them pending; 'b' has the largest mean, 0.8."
    )


def test_a_result_is_inconclusive_when_nothing_can_end_it_any_more():
    def stands():
        return agent.summary().split(":")[0]

    agent = robai.Agent(robai.EOCP(gap=20.0), 2, 8, reward=robai.families.Gaussian(1.0), rng=0)
    arms = agent.select_batch(8)
    assert stands() == "EOCP(gap=20.0) has handed out all rounds, and may still commit"
    agent.update_batch(arms, [5.0, 0.0] * 4)  # the next call commits
    assert stands() == "EOCP(gap=20.0) has handed out all rounds, and may still commit"
    assert agent.select() == 0
    assert stands().startswith("EOCP(gap=20.0) committed to 0")
    agent = robai.Agent(robai.EOCPUG(), 2, 8, reward=robai.families.Gaussian(1.0), rng=0)
    arms = agent.select_batch(8)
    agent.update_batch(arms[:7], arms[:7] == 0)
    assert "may still commit" in stands()
    agent.update(arms[7].item(), 0.0)
    assert stands() == "EOCPUG() reached the horizon without a commitment, the result is inconclusive"


def test_the_figure_shows_means_and_bounds(agent):
    ax = agent.plot(Figure().subplots())
    bars = [container.lines for container in ax.containers]
    for (dot, _, (bar,)), n, mean in zip(bars, (60, 30, 20), (0.5, 0.8, 0.6), strict=True):
        width = math.sqrt(2 * LEVEL / n)
        assert dot.get_xdata() == pytest.approx([mean])
        assert bar.get_segments()[0][:, 0] == pytest.approx([mean - width, mean + width])
