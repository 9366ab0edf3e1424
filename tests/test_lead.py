"""LeadCommit: worked examples, what was measured by independent programs, edges, and its parts alone."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import arms_played

import robai
from robai import families, rules
from robai._core.protocols import Evidence
from robai.rules import Game

UNIT = families.Gaussian(1.0)


# ---- worked examples: the rewards of each arm, in the order of its own pulls


class Trace(NamedTuple):
    reward: object
    horizon: int
    rewards: tuple
    plays: str  # arms counted from 1
    evidence: dict  # at the commitment
    claims: dict  # before a round, of an arm
    level: str = "ratio"


FIRST = (0.9, 0.1, 1.7, 0.4, 1.2, -0.3, 2.1, 0.8, 1.5)
SECOND = (0.3, -0.8, 0.5, -1.1)
TRACES = [
    Trace(
        UNIT,
        60,
        (FIRST, SECOND),
        "1212111121112",
        {2: 2.0216},
        {3: {2: 1.600}, 4: {2: 1.231}, 5: {2: 4.121}, 9: {2: 5.175}, 13: {2: 8.940}},
    ),
    Trace(
        UNIT,
        60,
        ((*FIRST, 0.6, 1.1, 0.2), SECOND),
        "1212111121112111",
        {},
        {14: {2: 15.375}, 15: {2: 15.235}, 16: {2: 15.560}},
        "horizon",
    ),
    Trace(
        UNIT,
        30,
        (
            (0.2, 0.9, 1.4, 0.3, 1.1, 0.8, 1.6, 0.5, 1.2, 0.7, 1.0),
            (1.3, -0.6, 0.1, -0.2),
            (-0.5, 0.35, -1.2),
        ),
        "123211312131121111",
        {2: 0.7855, 3: 2.0905},
        {4: {1: 2.100, 3: 2.800}, 7: {2: 3.498, 3: 2.633}, 11: {2: 5.982, 3: 4.890}},
    ),
    Trace(
        "bernoulli",
        200,
        ((1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1), (0, 1, 0, 0)),
        "12111221111111211",
        {2: 2.4680},
        {3: {2: 3.355}, 6: {2: 3.113}, 7: {2: 3.713}, 15: {2: 9.710}},
    ),
]


def standings(agent):
    evidence = Evidence(agent.pulls, agent.sums, agent.horizon, agent.squares)
    return agent._player.rules.explore.standings(evidence, agent.pending.tolist())


@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: trace.plays)
def test_worked_examples(trace):
    agent = robai.Agent(
        robai.LeadCommit(level=trace.level), len(trace.rewards), trace.horizon, reward=trace.reward, rng=0
    )
    left = [iter(each) for each in trace.rewards]
    for round_, arm in enumerate(trace.plays, start=1):
        if round_ in trace.claims:
            _, found = standings(agent)
            claims = {other: found[other - 1].claim for other in trace.claims[round_]}
            assert claims == pytest.approx(trace.claims[round_], abs=5e-4)
        assert agent.select() == int(arm) - 1
        assert not agent.committed
        agent.update(int(arm) - 1, next(left[int(arm) - 1]))
    if trace.evidence:
        leader, found = standings(agent)
        assert agent.select() == agent.committed_arm == leader == 0
        assert agent.commit_time == len(trace.plays)
        evidence = {arm: found[arm - 1].evidence for arm in trace.evidence}
        assert evidence == pytest.approx(trace.evidence, abs=5e-5)


# ---- what other programs measured


class Measured(NamedTuple):
    bandit: object
    horizon: int
    level: str
    before: tuple  # regret before the commitment, and its standard error
    time: tuple  # of the commitment
    wrong: tuple  # commitments, of how many runs


GAUSSIAN, FOUR, CLOSE = (
    robai.Gaussian([0.7, 0.2]),
    robai.Gaussian([0.7, 0.2, 0.2, 0.2]),
    robai.Gaussian([0.5, 0.45]),
)
TEN = robai.Bernoulli([0.5, *[0.45] * 3, *[0.4] * 3, *[0.35] * 2, 0.3])
MEASURED = [
    Measured(GAUSSIAN, 10**6, "ratio", (33.97, 0.02), (493.5, 0.4), (1, 440_000)),
    Measured(GAUSSIAN, 10**6, "pulls", (41.60, 0.13), (657, 1.9), (0, 20_000)),
    Measured(GAUSSIAN, 10**6, "horizon", (60.22, 0.12), (1116, 2.3), (0, 40_000)),
    Measured(GAUSSIAN, 10**15, "ratio", (114.46, 0.31), (2790, 8), (0, 20_000)),
    Measured(GAUSSIAN, 10**15, "horizon", (147.98, 0.36), (4038, 10), (0, 5_000)),
    Measured(FOUR, 10**5, "ratio", (80.70, 0.10), (555.9, 0.5), (1, 120_000)),
    Measured(robai.Bernoulli([0.7, 0.2]), 10**5, "ratio", (7.247, 0.006), (98.3, 0.1), (0, 240_000)),
    Measured(robai.Bernoulli([0.7, 0.2]), 10**5, "horizon", (11.83, 0.02), (199, 0.4), (0, 40_000)),
    Measured(robai.Bernoulli([0.95, 0.9]), 10**5, "ratio", (12.01, 0.02), (1404, 3), (2, 110_000)),
    Measured(robai.Bernoulli([0.9, 0.8, 0.5, 0.1]), 10**5, "ratio", (24.63, 0.03), (800, 1.3), (1, 110_000)),
    Measured(
        robai.Bernoulli([0.7, 0.2, 0.2, 0.2]), 10**5, "ratio", (22.64, 0.02), (157.9, 0.1), (0, 120_000)
    ),
    Measured(robai.Bernoulli([0.5, 0.45]), 10**5, "ratio", (35.52, 0.10), (3791, 9), (46, 60_000)),
    Measured(robai.Bernoulli([0.5, 0.45]), 10**5, "pulls", (50.3, 0.4), (6140, 50), (0, 5_000)),
    Measured(robai.Poisson([2, 1.5]), 10**5, "ratio", (41.97, 0.07), (532, 0.8), (5, 110_000)),
    Measured(robai.Poisson([2, 1.5]), 10**5, "pulls", (54.3, 0.3), (764, 4), (0, 10_000)),
    Measured(robai.Exponential([1, 0.5]), 10**5, "ratio", (16.78, 0.02), (222.8, 0.3), (7, 120_000)),
]
LONG = [
    Measured(FOUR, 10**5, "horizon", (157.0, 0.3), (1351, 2.5), (0, 20_000)),
    Measured(CLOSE, 10**6, "ratio", (170.0, 1.3), (19_548, 134), (1, 7_000)),
    Measured(CLOSE, 10**6, "pulls", (238.6, 4.0), (30_916, 450), (0, 1_000)),
    Measured(robai.Bernoulli([0.95, 0.9]), 10**5, "horizon", (31.03, 0.14), (5379, 21), (0, 10_000)),
    Measured(robai.Bernoulli([0.9, 0.8, 0.5, 0.1]), 10**5, "horizon", (47.55, 0.14), (2539, 10), (0, 10_000)),
    Measured(robai.Bernoulli([0.5, 0.45]), 10**5, "horizon", (123.2, 0.5), (21_535, 85), (0, 10_000)),
    Measured(robai.Exponential([1, 0.5]), 10**5, "horizon", (31.12, 0.08), (535, 1), (0, 20_000)),
    Measured(TEN, 10**5, "ratio", (246.5, 1.8), (7939, 44), (10, 7_500)),
    # Where no error of the commitment time is known, it is taken in proportion to that of the regret.
    Measured(FOUR, 10**5, "pulls", (103.2, 0.4), (758, 3), (0, 5_000)),
    Measured(CLOSE, 10**6, "horizon", (587.4, 7.6), (110_420, 1430), (0, 1_000)),
    Measured(robai.Bernoulli([0.7, 0.2]), 10**5, "pulls", (8.99, 0.03), (133, 0.5), (0, 20_000)),
    Measured(robai.Bernoulli([0.95, 0.9]), 10**5, "pulls", (16.12, 0.13), (2116, 17), (0, 5_000)),
    Measured(robai.Bernoulli([0.9, 0.8, 0.5, 0.1]), 10**5, "pulls", (31.65, 0.14), (1170, 6), (0, 5_000)),
    Measured(robai.Bernoulli([0.7, 0.2, 0.2, 0.2]), 10**5, "pulls", (28.27, 0.07), (209, 0.6), (0, 10_000)),
    Measured(robai.Bernoulli([0.7, 0.2, 0.2, 0.2]), 10**5, "horizon", (37.14, 0.06), (306, 0.6), (0, 20_000)),
    Measured(robai.Poisson([2, 1.5]), 10**5, "horizon", (90.2, 0.4), (1565, 7), (0, 10_000)),
    Measured(robai.Exponential([1, 0.5]), 10**5, "pulls", (21.31, 0.06), (312, 1), (0, 20_000)),
    Measured(TEN, 10**5, "pulls", (337.9, 2.6), (11_992, 92), (0, 1_000)),
    Measured(TEN, 10**5, "horizon", (706.3, 3.3), (36_829, 172), (0, 1_500)),
]
# Growth, two unit Gaussian arms, gap 0.5: T; regret and time of the commitment, by "ratio" and by "horizon".
GROWTH = [
    (1e4, (17.88, 0.08), (199.0, 0.8), (40.19, 0.14), (632, 2)),
    (1e6, (33.90, 0.11), (492.5, 1.6), (60.30, 0.17), (1118, 3)),
    (1e9, (60.22, 0.15), (1111, 3), (89.56, 0.20), (1964, 4)),
    (1e15, (114.46, 0.31), (2790, 8), (147.98, 0.36), (4038, 10)),
    (1e30, (253.4, 0.6), (8822, 22), (291.4, 0.7), (10_807, 26)),
    (1e60, (531.2, 1.5), (26_102, 74), (576.4, 1.5), (29_338, 78)),
    (1e100, (903.1, 3.0), (57_030, 191), (951.0, 3.1), (61_440, 203)),
]


def before_commitment(result):
    """The regret of the rounds before the commitment, of each run."""
    late = np.where(result.committed, result.horizon - result.commit_time, 0)
    return result.final_regret - late * result.gaps[result.committed_arm]


def assert_close(values, measured):
    value, error = measured
    assert abs(values.mean() - value) < 5 * math.hypot(error, values.std() / math.sqrt(len(values)))


def assert_as_often(count, runs, measured):
    """Given both counts together, each commitment is as likely to be wrong here as there."""
    there, of_them = measured
    share, total = runs / (runs + of_them), count + there
    tail = [math.comb(total, k) * share**k * (1 - share) ** (total - k) for k in range(total + 1)]
    assert min(sum(tail[: count + 1]), sum(tail[count:])) > 3e-7


def check(row, runs):
    result = robai.simulate(robai.LeadCommit(level=row.level), row.bandit, row.horizon, runs, rng=11, times=1)
    assert_close(before_commitment(result), row.before)
    assert_close(np.where(result.committed, result.commit_time, result.horizon), row.time)
    assert_as_often(int((result.committed_arm != 0).sum()), runs, row.wrong)


@pytest.mark.parametrize("row", MEASURED, ids=lambda row: f"{row.bandit}-{row.horizon:g}-{row.level}")
def test_regret_and_commitments_are_those_of_other_programs(row):
    check(row, 2000)


@pytest.mark.slow
@pytest.mark.parametrize("row", MEASURED + LONG, ids=lambda row: f"{row.bandit}-{row.horizon:g}-{row.level}")
def test_regret_and_commitments_of_many_runs_are_those_of_other_programs(row):
    check(row, 20_000 if row in MEASURED else 2000)


@pytest.mark.slow
@pytest.mark.parametrize(("horizon", "ratio", "its_time", "log", "log_time"), GROWTH)
def test_growth_is_that_of_another_program(horizon, ratio, its_time, log, log_time):
    for level, regret, time in (("ratio", ratio, its_time), ("horizon", log, log_time)):
        runs = 3000 if horizon <= 1e15 else 400
        found = robai.identify(robai.LeadCommit(level=level), GAUSSIAN, horizon=horizon, runs=runs, rng=12)
        assert_close(found.pulls @ found.gaps, regret)
        assert_close(found.stopping_time, time)
        assert found.failure().count <= (3 if horizon < 1e6 else 0)


SMALL = (3, 4, 5, 10, 20, 50, 100)


@pytest.mark.parametrize(
    ("bandit", "regrets", "wrong"),
    [
        (
            GAUSSIAN,
            (0.681, 0.877, 1.039, 1.775, 2.904, 4.864, 6.414),
            (0.106, 0.134, 0.161, 0.165, 0.135, 0.066, 0.027),
        ),
        (robai.Bernoulli([0.7, 0.2]), (0.625, 0.719, 0.795, 1.138, 1.372, 1.775, 2.214), None),
    ],
    ids=repr,
)
def test_small_horizons(bandit, regrets, wrong):
    for i, horizon in enumerate(SMALL):
        result = robai.simulate(robai.LeadCommit(), bandit, horizon, 20_000, rng=5, times=1)
        error = max(0.0012, 0.004 * regrets[i])  # of the other program, and of its last digit
        assert_close(result.final_regret, (regrets[i], error))
        if wrong:
            assert_close(result.committed_arm == 1, (wrong[i], 0.0015))


@pytest.mark.parametrize(
    ("bandit", "delta", "errors", "time"),
    [
        (robai.Gaussian([0.5, 0.25]), 0.1, (275, 20_000), (816, 4)),
        (robai.Gaussian([0.5, 0.25]), 0.01, (26, 20_000), (1607, 7)),
        (robai.Bernoulli([0.5, 0.45, 0.43, 0.4]), 0.1, (1, 1000), (9484, 163)),
    ],
)
def test_fixed_confidence(bandit, delta, errors, time):
    runs = 2000 if bandit.n_arms == 2 else 150
    result = robai.simulate(robai.LeadCommit(delta=delta), bandit, 10**9, runs, rng=3, times=1)
    assert result.committed.all()
    assert_close(result.commit_time, time)
    assert_as_often(int((result.committed_arm != 0).sum()), runs, errors)


# ---- balance: what the bound of the commitment time rests on


@given(
    seed=st.integers(0, 2**32),
    bandit=st.sampled_from(
        [
            robai.Gaussian([0.3, 0.0]),
            robai.Bernoulli([0.5, 0.4]),
            robai.Bernoulli([1.0, 0.0]),
            robai.Poisson([0.5, 0.4]),
            robai.Exponential([1.0, 0.5]),
        ]
    ),
    exponent=st.floats(0.05, 1.0),
    factor=st.floats(0.1, 10.0),
    level=st.sampled_from(["ratio", "pulls", "horizon"]),
    horizon=st.integers(3, 400),
)
@settings(max_examples=150)
def test_neither_of_two_arms_has_more_than_its_share(seed, bandit, exponent, factor, level, horizon):
    policy = robai.LeadCommit(exponent, factor, level)
    result = robai.simulate(
        policy, bandit, horizon, 2, rng=seed, times=range(1, horizon + 1), curves=True, engine="step"
    )
    most = 1 + factor * math.log(horizon) ** exponent
    for run in range(2):
        pulls = [0, 0]
        for arm in arms_played(result, run):
            pulls[arm] += 1
            assert max(pulls) <= most * min(pulls) + 1 + 1e-9 or min(pulls) == 0


# ---- edges


@pytest.mark.parametrize("level", ["ratio", "pulls", "horizon"])
def test_there_is_no_commitment_when_all_rounds_have_been_played(level):
    for arms, horizon in ((2, 2), (3, 3), (3, 4)):
        result = robai.simulate(
            robai.LeadCommit(level=level), robai.Gaussian([50.0, *[0.0] * (arms - 1)]), horizon, 50, rng=0
        )
        if horizon == arms:
            assert (result.commit_time == -1).all()
        else:
            assert (result.commit_time == arms).all()  # the evidence is there, and a round is left


@pytest.mark.filterwarnings("ignore:arms .* are all best")
def test_equal_arms():
    bandit = robai.Gaussian([0.5, 0.5])
    result = robai.simulate(robai.LeadCommit(), bandit, 10**4, 600, rng=2)
    assert result.committed.all()
    assert_close(result.commit_time, (4710, 45))
    for level, never in (("pulls", (0.742, 0.0138)), ("horizon", (0.999, 0.001))):
        result = robai.simulate(robai.LeadCommit(level=level), bandit, 10**4, 300, rng=2)
        assert_close(~result.committed, never)


@pytest.mark.filterwarnings("ignore:arms .* are all best")
def test_arms_that_never_differ_are_played_in_turn_to_the_end():
    result = robai.simulate(robai.LeadCommit(), robai.Bernoulli([1.0, 1.0]), 1001, 20, rng=0)
    assert not result.committed.any()
    assert (np.abs(result.pulls[:, 0] - result.pulls[:, 1]) == 1).all()


def test_a_leader_is_drawn_and_so_is_an_arm_in_doubt_both_uniformly():
    # After one 1 each all four arms lead; then one of the other three is played, whose claims are equal.
    agents = (robai.Agent(robai.LeadCommit(), 4, 100, reward="bernoulli", rng=seed) for seed in range(4000))
    counts = np.zeros(4)
    for agent in agents:
        agent.update_batch([0, 1, 2, 3], [1.0] * 4)
        counts[agent.select()] += 1
    assert (np.abs(counts - 1000) < 5 * math.sqrt(750)).all()


def test_one_sigma_an_arm():
    game = Game.of(2, 1000, families.Gaussian((1.0, 3.0)))
    started = rules.Lead().start(game)
    _, found = started.standings(Evidence([8, 5], [8.0, 1.0], 1000), [0, 0])
    assert found[1].evidence == pytest.approx(0.5 * 0.8**2 / (1 / 8 + 9 / 5))


@pytest.mark.parametrize("sums", [(1e308, -1e308), (1e200, 1e200)])
def test_rewards_beyond_all_measure(sums):
    agent = robai.Agent(robai.LeadCommit(), 2, 1000, reward=UNIT, rng=0)
    for arm, total in enumerate(sums):
        agent.update(arm, total)
    for _ in range(20):
        agent.update(agent.select(), 0.0)
    assert agent.rounds == 22


# ---- parts


def test_the_parts_are_three_rules():
    explore, stop, commit = robai.LeadCommit(level="pulls").parts()
    assert explore == rules.Lead(level="pulls")
    assert stop == rules.LikelihoodRatio(level="pulls")
    assert commit == rules.LargestMean()
    bandit = robai.Gaussian([0.7, 0.2])
    made = robai.simulate(robai.Policy(explore, stop, commit), bandit, 1000, 50, rng=1)
    named = robai.simulate(robai.LeadCommit(level="pulls"), bandit, 1000, 50, rng=1)
    assert (made.commit_time == named.commit_time).all()


def test_without_a_stop_the_leader_is_played_while_no_arm_is_in_doubt():
    policy = robai.Policy(rules.Lead(), rules.Never())
    result = robai.simulate(policy, robai.Gaussian([3.0, 0.0]), 10**4, 50, rng=0)
    assert not result.committed.any()
    assert (result.pulls[:, 1] < 30).all()


def test_with_another_stop_it_is_the_other_that_decides():
    policy = robai.Policy(rules.Lead(), rules.FixedRound(300))
    assert (robai.simulate(policy, GAUSSIAN, 10**4, 20, rng=0).commit_time == 300).all()


@pytest.mark.parametrize(
    ("level", "asked"),
    [("ratio", math.log(1000 / 50)), ("pulls", math.log(1000 / 10)), ("horizon", math.log(1000))],
)
def test_the_stop_asks_for_what_ends_doubt(level, asked):
    game, evidence = Game.of(2, 1000, UNIT), Evidence([40, 10], [40.0, 2.0], 1000)
    (report,) = rules.LikelihoodRatio(level=level).start(game).report(evidence)
    _, found = rules.Lead(level=level).start(game).standings(evidence, [0, 0])
    assert report.asked == found[1].bar == pytest.approx(asked)
    assert report.value == found[1].evidence == pytest.approx(0.5 * 0.8**2 * 8)


@pytest.mark.parametrize("kind", [robai.LeadCommit, rules.Lead])
@pytest.mark.parametrize(
    "wrong",
    [
        {"exponent": 0.0},
        {"exponent": 1.1},
        {"exponent": math.nan},
        {"factor": 0},
        {"factor": math.inf},
        {"factor": "2"},
        {"level": "round"},
        {"delta": 1.0},
        {"level": "horizon", "delta": 0.1},
    ],
    ids=repr,
)
def test_wrong_parameters_are_named(kind, wrong):
    with pytest.raises((TypeError, ValueError)) as caught:
        kind(**wrong)
    for name, value in wrong.items():
        assert name in str(caught.value)
        assert repr(value) in str(caught.value)
