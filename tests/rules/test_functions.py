"""Levels, indices and stops that are functions of the user's, called by their address."""

import copy
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support.laws import assert_same_law

import robai
from robai import rules

GAUSSIAN = robai.Gaussian([0.7, 0.2, 0.5])
MOSS_LEVEL = rules.Level("support.extensions:moss_level", name="MOSS")
MOSS_INDEX = rules.Index("support.extensions:moss_index", name="MOSS")
AFTER_100 = rules.Stop("support.extensions:after_100", name="100 rounds")


def level(function, **options):
    return rules.Level(rules.Level.ctypes_signature(function), name=function.__name__, **options)


def index(function, **options):
    return rules.Index(rules.Index.ctypes_signature(function), name=function.__name__, **options)


def stop(function, **options):
    return rules.Stop(rules.Stop.ctypes_signature(function), name=function.__name__, **options)


def ratio(pulls, t, horizon, arms):
    return max(math.log(horizon / pulls), 0.0)


def rounds(pulls, t, horizon, arms):
    return math.log(t)


def ucb1(pulls, total, squares, t, horizon, arms):
    return total / pulls + math.sqrt(2 * math.log(t) / pulls)


def same(first, second, bandit=GAUSSIAN, engine="step", horizon=300, runs=5):
    options = {"rng": 5, "times": range(1, horizon + 1), "curves": True, "engine": engine}
    results = [robai.simulate(policy, bandit, horizon, runs, **options) for policy in (first, second)]
    assert (results[0].curves == results[1].curves).all()
    assert (results[0].commit_time == results[1].commit_time).all()
    assert (results[0].committed_arm == results[1].committed_arm).all()


# ---- what they play


def alike(first, second, bandit):
    """By leaps, in law."""
    found = [
        robai.simulate(each, bandit, 300, 4000, rng=seed, times=1, engine="leap")
        for seed, each in enumerate((first, second))
    ]
    error = math.hypot(*(each.regret_sem[-1] for each in found))
    assert abs(found[0].regret[-1] - found[1].regret[-1]) < 5 * error


@pytest.mark.parametrize("engine", ["step", "leap"])
@pytest.mark.parametrize(("function", "name", "grows"), [(ratio, "ratio", False), (rounds, "round", True)])
@pytest.mark.parametrize("kind", [robai.UCB, robai.KLUCB, rules.UpperBound, rules.KLUpperBound])
def test_a_level_of_robais_own(kind, function, name, grows, engine):
    for bandit in (GAUSSIAN, robai.Bernoulli([0.7, 0.2, 0.5])):
        policies = [kind(level=each) for each in (level(function, grows=grows), name)]
        if kind in (rules.UpperBound, rules.KLUpperBound):
            policies = map(robai.Policy, policies)
        if grows and engine == "leap":  # less is known of a function, so it leaps less far
            alike(*policies, bandit)
        else:
            same(*policies, bandit, engine)


def test_an_index_that_grows():
    same(robai.Policy(index(ucb1, grows=True)), robai.UCB(level="round"))
    same(robai.Policy(index(ucb1, grows=True, moments=2)), robai.UCB(level="round"))


def test_an_index_of_one_arm_is_computed_when_that_is_pulled():
    asked = []

    def mean(pulls, total, squares, t, horizon, arms):
        asked.append((pulls, total, squares, t, horizon, arms))
        return total / pulls

    result = robai.simulate(robai.Policy(index(mean)), robai.Bernoulli([0.0, 1.0]), 50, 1, rng=0)
    assert result.pulls.tolist() == [[1, 49]]
    assert asked[:2] == [
        (1, 0, pytest.approx(math.nan, nan_ok=True), 3, 50, 2),
        (1, 1, asked[1][2], 3, 50, 2),
    ]
    # From then on arm 1 alone, at the round that is to be decided, 2 more than its pulls; some twice.
    assert {(pulls, t - pulls) for pulls, _, _, t, _, _ in asked[2:]} == {(n, 2) for n in range(2, 50)}
    assert len(asked) < 60


def test_an_index_sees_the_squares():
    class Tuned:
        def __init__(self):
            self.rewards = {}

        def select(self, state):
            if state.t < 2 * state.n_arms:
                return state.t % state.n_arms
            log = math.log(state.t + 1)
            return int(np.argmax([
                mean + math.sqrt(log / n * min(0.25, np.var(self.rewards[a]) + math.sqrt(2 * log / n)))
                for a, (n, mean) in enumerate(zip(state.pulls, state.means, strict=True))
            ]))  # fmt: skip

        def update(self, arm, reward):
            self.rewards.setdefault(arm, []).append(reward)

    def tuned(pulls, total, squares, t, horizon, arms):
        variance = squares / pulls + math.sqrt(2 * math.log(t) / pulls)
        return total / pulls + math.sqrt(math.log(t) / pulls * min(0.25, variance))

    same(
        Tuned(),
        robai.Policy(index(tuned, grows=True, moments=2, initial_pulls=2)),
        robai.Gaussian([0.7, 0.2]),
    )


def test_initial_pulls_of_an_index():
    def nothing(pulls, total, squares, t, horizon, arms):
        return -pulls

    result = robai.simulate(robai.Policy(index(nothing, initial_pulls=5)), GAUSSIAN, 15, 1, rng=0)
    assert result.pulls.tolist() == [[5, 5, 5]]


def test_rewards_count_from_zero():
    """Engines may count rewards of Gaussian arms from the best mean, which no compiled rule can tell."""
    far = robai.Gaussian([1e6, 1e6 + 1.0])
    seen = []

    def watch(pulls, total, squares, t, horizon, arms):
        seen.append(total / pulls)
        return total / pulls

    robai.simulate(robai.Policy(index(watch)), far, 20, 1, rng=0)
    assert min(seen) > 1e6 - 10
    seen.clear()

    def watching(arms, t, horizon, pulls, sums, squares):
        seen.append(sums[0] / pulls[0])
        return False

    for engine, rule in (("step", stop(watching)), ("leap", rules.Imbalance() & stop(watching))):
        robai.simulate(robai.Policy(robai.UCB(), rule), far, 2000, 5, rng=0, engine=engine)
        assert min(seen) > 1e6 - 10
        seen.clear()


def test_a_level_that_is_infinite_at_first():
    def later(pulls, t, horizon, arms):
        return math.inf if pulls < 3 else 1.0

    policy = robai.UCB(level=level(later))
    assert policy.start(rules.Game.of(3, 100, GAUSSIAN)).initial_pulls == 3
    assert robai.simulate(policy, GAUSSIAN, 9, 1).pulls.tolist() == [[3, 3, 3]]


def test_stops():
    def imbalance(arms, t, horizon, pulls, sums, squares):
        first, second = sorted(pulls[:arms], reverse=True)[:2]
        return first - (math.log(horizon) + math.sqrt(math.log(horizon))) * second > 1

    explore, commit = robai.UCB(level="ratio"), rules.LowerBound()
    same(robai.Policy(explore, stop(imbalance), commit), robai.Policy(explore, rules.Imbalance(), commit))
    same(robai.Policy(explore, AFTER_100), robai.Policy(explore, rules.FixedRound(100)))
    both, either = stop(imbalance) & AFTER_100, stop(imbalance) | AFTER_100
    compiled = rules.Imbalance(), rules.FixedRound(100)
    same(robai.Policy(explore, both), robai.Policy(explore, compiled[0] & compiled[1]))
    same(robai.Policy(explore, either), robai.Policy(explore, compiled[0] | compiled[1]))


def test_a_stop_joined_to_a_rule_that_leaps_leaps():
    same(
        robai.Policy(robai.UCB(), rules.Imbalance() & AFTER_100),
        robai.Policy(robai.UCB(), rules.Imbalance() & rules.FixedRound(100)),
        engine="leap",
    )
    with pytest.raises(ValueError, match=r"Stop\(.*has to be asked after every round"):
        robai.simulate(robai.Policy(robai.UCB(), AFTER_100), GAUSSIAN, 200, 1, engine="leap")


def test_a_stop_sees_the_squares_if_it_asks_for_them():
    seen = []

    def watch(arms, t, horizon, pulls, sums, squares):
        seen.append([squares[a] for a in range(arms)] if squares else None)
        return False

    class Rewards:
        def __init__(self):
            self.rewards = [[] for _ in range(3)]

        def select(self, state):
            if state.t >= state.n_arms:
                found.append([len(each) * np.var(each) for each in self.rewards])
            return state.t % state.n_arms

        def update(self, arm, reward):
            self.rewards[arm].append(reward)

    robai.simulate(robai.Policy(rules.RoundRobin(), stop(watch)), GAUSSIAN, 30, 1, rng=0)
    assert set(map(str, seen)) == {"None"}
    seen.clear()
    robai.simulate(robai.Policy(rules.RoundRobin(), stop(watch, moments=2)), GAUSSIAN, 30, 1, rng=0)
    found = []
    robai.simulate(Rewards(), GAUSSIAN, 30, 1, rng=0)
    assert np.allclose(seen[:-1], found)  # the stop is asked at the horizon too


# ---- what is wrong


@pytest.mark.parametrize("kind", [rules.Index, rules.Level, rules.Stop])
def test_a_plain_function(kind):
    line = rf"write numba\.cfunc\(robai\.rules\.{kind.__name__}\.signature\)\(ucb1\)"
    with pytest.raises(TypeError, match=line):
        kind(ucb1, name="plain")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"name": ""}, TypeError),
        ({"name": 3}, TypeError),
        ({"name": "a", "grows": 1}, TypeError),
        ({"name": "a", "moments": 3}, ValueError),
        ({"name": "a", "initial_pulls": 0}, ValueError),
    ],
)
def test_wrong_options(options, error):
    with pytest.raises(error, match=list(options)[-1]):
        rules.Index("a:b", **options)


def test_options_have_names():
    with pytest.raises(TypeError):
        rules.Index("a:b", "a")
    with pytest.raises(TypeError, match="name"):
        rules.Level("a:b")


def test_a_name_that_is_not_there_is_an_error_before_any_work():
    policy = robai.UCB(level=rules.Level("no_such_module:moss", name="MOSS"))
    with pytest.raises(ValueError, match="no_such_module"):
        robai.simulate(policy, GAUSSIAN, 100, 1)
    with pytest.raises(TypeError, match="write numba"):
        robai.simulate(robai.UCB(level=rules.Level("support.extensions:plain", name="p")), GAUSSIAN, 100, 1)


def bump(pulls, t, horizon, arms):
    return pulls if pulls < 10 else 20 - min(pulls, 20)


def falling(pulls, t, horizon, arms):
    return 1 / t


def negative(pulls, t, horizon, arms):
    return math.log(horizon / (arms * pulls))


def hidden(pulls, t, horizon, arms):
    return math.nan if pulls == 37 else 1.0


def infinite(pulls, t, horizon, arms):
    return math.inf


@pytest.mark.parametrize(
    ("function", "grows", "message"),
    [
        (bump, False, r"Level 'bump' must rise or fall with the pulls, not both: it is 1 at 1, .*an Index"),
        (rounds, False, "Level 'rounds' depends on t: say grows=True; it is 0 at t=1 and 4.6"),
        (falling, True, "Level 'falling' must not fall with t"),
        (negative, False, "Level 'negative' must be a number from 0 on, and was -.* for pulls=64, t=.*=100"),
        (hidden, False, "Level 'hidden' must be .*, and was nan for pulls=37, t=.*, horizon=100, arms=3"),
        (infinite, False, "Level 'infinite' must be finite"),
    ],
)  # fmt: skip
def test_a_function_that_is_no_level(function, grows, message):
    with pytest.raises(ValueError, match=message):
        robai.simulate(robai.UCB(level=level(function, grows=grows)), GAUSSIAN, 100, 20, rng=0, engine="step")


def test_a_level_is_looked_at_once_a_game():
    asked = []

    def counted(pulls, t, horizon, arms):
        asked.append(horizon)
        return math.log(horizon)

    rule = level(counted)
    games = [rules.Game.of(2, horizon, robai.Gaussian([1, 0])) for horizon in (10**6, 10**6, 10**9)]
    calls = []
    for game in games:
        asked.clear()
        rule.start(game)
        calls.append(len(asked))
    assert calls[1] == 1  # for the pulls before it is finite
    assert calls[2] > calls[0] > 20
    assert rule == copy.deepcopy(rule)


def nan_at_20(pulls, total, squares, t, horizon, arms):
    return math.nan if pulls == 20 else -pulls


def test_an_index_that_is_no_number():
    where = r"'nan_at_20' must be a number, and was nan for pulls=20, sum=.*, squares=nan, t=.*=100, arms=3"
    for executor in (None, ThreadPoolExecutor(1)):
        with pytest.raises(ValueError, match=where):
            robai.simulate(robai.Policy(index(nan_at_20)), GAUSSIAN, 100, 5, rng=0, executor=executor)
    with pytest.raises(ValueError, match=where):
        robai.simulate(robai.Policy(index(nan_at_20, grows=True)), GAUSSIAN, 100, 5, rng=0)
    robai.simulate(robai.Policy(index(nan_at_20)), GAUSSIAN, 57, 5, rng=0)


def test_an_agent_survives_an_index_that_is_no_number():
    broken = []

    def sometimes(pulls, total, squares, t, horizon, arms):
        return math.nan if broken else -pulls

    agent = robai.Agent(robai.Policy(index(sometimes)), 3, 100, reward=robai.families.Gaussian(1.0), rng=0)
    for _ in range(10):
        agent.update(agent.select(), 1.0)
    broken.append(True)
    before = agent.pulls.tolist(), agent.pending.tolist(), agent.rounds
    agent.table()
    for _ in range(2):
        with pytest.raises(ValueError, match="Index 'sometimes' must be a number"):
            agent.select()
        with pytest.raises(ValueError, match="Index 'sometimes' must be a number"):
            agent.select_batch(5)
    assert before == (agent.pulls.tolist(), agent.pending.tolist(), agent.rounds)
    agent.table()
    broken.clear()
    assert sorted(agent.select_batch(6).tolist()) == [0, 0, 1, 1, 2, 2]


def test_the_reason_of_a_commitment_names_the_function():
    agent = robai.Agent(robai.Policy(robai.UCB(), AFTER_100), ["a", "b"], 200, reward="bernoulli", rng=0)
    while not agent.committed:
        arm = agent.select()
        agent.update(arm, float(arm == "a"))
    assert agent.commit_time == 100
    assert agent.commit_reason.startswith("the function '100 rounds' said so; 'a' had the largest mean")


def test_an_index_has_the_law_of_the_leaps():
    leap = robai.simulate(robai.UCB(level=MOSS_LEVEL), GAUSSIAN, 300, 800, rng=1, engine="leap")
    step = robai.simulate(robai.Policy(MOSS_INDEX), GAUSSIAN, 300, 800, rng=2)
    assert_same_law(leap.final_regret, step.final_regret)


def test_labels_are_of_their_names():
    stop = rules.Imbalance() & AFTER_100 | rules.FixedRound(9)
    policies = [robai.Policy(MOSS_INDEX, stop), robai.UCB(level(ratio)), robai.UCB("ratio")]
    assert list(robai.compare(policies, robai.Bernoulli([0.7, 0.2]), 200, 2, rng=0)) == [
        "Policy(explore=MOSS, stop=((Imbalance() & 100 rounds) | FixedRound(round=9)))",
        "UCB(level=ratio)",
        "UCB(level='ratio')",
    ]
