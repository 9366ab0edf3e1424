"""Policies on bandits over horizons."""

import matplotlib as mpl
import pytest

mpl.use("Agg")
from matplotlib.figure import Figure
from support.examples import Turns

import robai
from robai.result import Sweep

EASY, HARD = robai.Bernoulli([0.9, 0.1]), robai.Bernoulli([0.5, 0.4, 0.3])
POLICIES = [robai.KLUCB(), robai.KLEOCPUG()]


@pytest.fixture(scope="module")
def played():
    return robai.sweep(POLICIES, {"easy": EASY, "hard": HARD}, [1000, 200], 20, rng=3, times=10)


def test_every_cell_is_what_simulate_returns(played):
    assert len(played) == 8
    for (label, name, horizon), result in played.items():
        policy = next(policy for policy in POLICIES if policy.label() == label)
        bandit = {"easy": EASY, "hard": HARD}[name]
        assert result == robai.simulate(policy, bandit, horizon, 20, rng=3, times=10)
    assert played.policies == ("KLUCB()", "KLEOCPUG()")
    assert played.bandits == ("easy", "hard")
    assert played.horizons == (1000, 200)
    assert repr(played) == "<Sweep of 2 policies, 2 bandits, 2 horizons>"


def test_one_of_each_needs_no_list():
    played = robai.sweep(robai.KLUCB(), EASY, 1e3, 5, rng=0)
    assert list(played) == [("KLUCB()", "Bernoulli(means=(0.9, 0.1))", 1000)]
    played = robai.sweep(Turns(), EASY, 100, 5, rng=0)
    assert list(played) == [("Turns", "Bernoulli(means=(0.9, 0.1))", 100)]
    assert played["Turns", "Bernoulli(means=(0.9, 0.1))", 100] == robai.simulate(Turns(), EASY, 100, 5, rng=0)
    with pytest.raises(TypeError, match=r"policies must be .* got"):
        robai.sweep(Turns, EASY, 100, 5)


def test_a_fresh_seed_is_the_same_for_all(tmp_path):
    played = robai.sweep(POLICIES, [EASY, HARD], [100, 200], 5)
    assert len({tuple(result.meta["entropy"]) for result in played.values()}) == 1
    first = robai.sweep(POLICIES, EASY, [100, 200], 70, checkpoint=tmp_path)
    assert dict(robai.sweep(POLICIES, EASY, [100, 200], 70, checkpoint=tmp_path)) == dict(first)
    assert len({tuple(result.meta["entropy"]) for result in first.values()}) == 1


def test_results_are_selected_and_compared(played):
    assert played.select(policy="KLUCB()", horizon=200) == [
        played["KLUCB()", "easy", 200],
        played["KLUCB()", "hard", 200],
    ]
    assert list(played.comparison(bandit="hard", horizon=1000)) == ["KLUCB()", "KLEOCPUG()"]
    with pytest.raises(ValueError, match="bandit must be one of 'easy', 'hard', got None"):
        played.comparison(horizon=200)
    with pytest.raises(ValueError, match="horizon must be one of 1000, 200, got 300"):
        played.select(horizon=300)


def test_the_table_has_a_row_a_cell(played):
    pytest.importorskip("pandas")
    frame = played.to_dataframe()
    assert len(frame) == 8
    row = frame[(frame.policy == "KLEOCPUG()") & (frame.bandit == "hard") & (frame.horizon == 1000)].iloc[0]
    result = played["KLEOCPUG()", "hard", 1000]
    assert row.regret == result.regret[-1]
    assert row.regret_sem == result.regret_sem[-1]
    assert row.best_arm_share == pytest.approx(result.pulls[:, 0].mean() / 1000)
    assert row.committed == result.committed.mean()


def test_scaling_is_drawn_of_one_bandit(played):
    ax = played.plot_scaling(Figure().subplots(), bandit="hard")
    assert [list(container.lines[0].get_xdata()) for container in ax.containers] == [[200, 1000]] * 2
    with pytest.raises(ValueError, match="bandit must be one of"):
        played.plot_scaling()


def test_a_parameter_is_read_from_the_policies():
    policies = [robai.UCB(), *(robai.EOCPUG(inflation=c) for c in (2.0, 0.5, 1.0))]
    played = robai.sweep(policies, robai.Gaussian([0.7, 0.2]), [1000, 2000], 20, rng=0)
    ax = played.plot_parameter("inflation", Figure().subplots())
    assert [container.get_label() for container in ax.containers] == [
        "EOCPUG, T = 1,000",
        "EOCPUG, T = 2,000",
    ]
    x, y = ax.containers[1].lines[0].get_data()
    assert x.tolist() == [0.5, 1.0, 2.0]
    assert y[0] == played["EOCPUG(inflation=0.5)", played.bandits[0], 2000].regret[-1]
    one = robai.sweep(policies, robai.Gaussian([0.7, 0.2]), 1000, 20, rng=0)
    ax = one.plot_parameter("inflation", Figure().subplots())
    assert list(ax.lines[-1].get_ydata()) == [one["UCB()", one.bandits[0], 1000].regret[-1]] * 2
    with pytest.raises(ValueError, match="name must be a parameter of one of"):
        one.plot_parameter("gap")


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"bandits": []}, ValueError, "bandits must hold at least one bandit, got none"),
        ({"bandits": 3}, TypeError, "bandits must be a bandit or a sequence of bandits, got 3"),
        ({"bandits": [EASY, 3]}, TypeError, "bandits must be bandits of robai.bandits, got 3"),
        ({"bandits": [EASY, EASY]}, ValueError, "bandits holds .* twice"),
        ({"bandits": {"": EASY}}, ValueError, "bandits must be named by non-empty strings, got ''"),
        ({"horizons": []}, ValueError, r"horizons must be one or several different numbers, got \[\]"),
        ({"horizons": [100, 1e2]}, ValueError, "horizons must be one or several different numbers"),
        ({"times": [10, 100]}, TypeError, "times must be"),
    ],
)
def test_wrong_arguments_are_named(changes, error, message):
    arguments = {"policies": POLICIES, "bandits": EASY, "horizons": [100]} | changes
    with pytest.raises(error, match=message):
        robai.sweep(**arguments, runs=5)


def test_nothing_is_a_sweep():
    with pytest.raises(ValueError, match="at least one Result"):
        Sweep({})
