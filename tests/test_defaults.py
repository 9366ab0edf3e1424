"""What a policy assumes when nothing is said, the sigma of the rewards, and a word where it assumes less."""

import dataclasses
import warnings

import numpy as np
import pytest
from support import reference
from support.examples import POLICIES, TWO_ARMED, fitting

import robai
from robai import families, rules
from robai.rules import Game

WITH_SIGMA = [policy for policy in POLICIES if getattr(policy, "sigma", None) is not None]
SUB_GAUSSIAN = [
    robai.Gaussian([0.7, -0.2, 0.1], sigma=3.0),
    robai.Bernoulli([0.7, 0.2, 0.5]),
    robai.Binomial([2.5, 1.0, 4.0], n=5),
]


@pytest.mark.parametrize("policy", WITH_SIGMA, ids=repr)
@pytest.mark.parametrize("bandit", SUB_GAUSSIAN, ids=repr)
def test_the_default_is_the_sigma_of_the_rewards(policy, bandit):
    policy, bandit = dataclasses.replace(policy, sigma=None), fitting(policy, bandit)
    if isinstance(policy, robai.EOCP):
        policy = dataclasses.replace(policy, gap=0.1)  # which is true of all
    known = {"Gaussian": 3.0, "Bernoulli": 0.5, "Binomial": 5**0.5 / 2}[type(bandit).__name__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = robai.simulate(policy, bandit, 200, 5, rng=3, engine="step")
        said = robai.simulate(dataclasses.replace(policy, sigma=known), bandit, 200, 5, rng=3, engine="step")
    assert (found.pulls == said.pulls).all()
    assert (found.commit_time == said.commit_time).all()
    assert found.meta["sigma"] == said.meta["sigma"] == known
    assert found.summary().splitlines()[-1] == f"sigma       {known:g}"
    assert policy.sigma is None  # one object serves any bandit


@pytest.mark.parametrize("policy", WITH_SIGMA, ids=repr)
def test_one_sigma_an_arm(policy):
    bandit, policy = (
        robai.Gaussian([0.7, -0.2, 0.1], sigma=[0.5, 2.0, 1.0]),
        dataclasses.replace(policy, sigma=None),
    )
    if isinstance(policy, (*TWO_ARMED, robai.DETCK)):
        two = robai.Gaussian([0.7, -0.2], sigma=[0.5, 2.0])
        with pytest.raises(ValueError, match=r"same sigma, got \[0.5, 2.0\]"):
            robai.simulate(policy, two, 100, 1)
        return
    for run in range(3):
        arms, when, which = reference.play(policy, bandit, 150, 5, run)
        result = robai.simulate(
            policy, bandit, 150, run + 1, rng=5, times=range(1, 151), curves=True, engine="step"
        )
        found = np.abs(np.diff(result.curves[run], prepend=0.0)[:, None] - result.gaps).argmin(axis=1)
        assert found[: len(arms)].tolist() == arms
        assert (result.commit_time[run], result.committed_arm[run]) == (when, which)


def test_one_sigma_an_arm_by_leaps():
    bandit = robai.Gaussian([0.7, 0.2, 0.1], sigma=[0.5, 2.0, 1.0])
    step, leap = (
        robai.simulate(robai.EOCPUG(), bandit, 20_000, 2000, rng=seed, engine=engine)
        for seed, engine in ((1, "step"), (2, "leap"))
    )
    for arm in range(3):
        first, second = step.pulls[:, arm], leap.pulls[:, arm]
        error = np.hypot(first.std(), second.std()) / np.sqrt(2000)
        assert abs(first.mean() - second.mean()) < 5 * error


@pytest.mark.parametrize(
    "bandit", [robai.Poisson([1, 2]), robai.Exponential([1, 2]), robai.Gamma([1, 2], shape=2)]
)
@pytest.mark.parametrize(
    ("policy", "way"),
    [
        (robai.UCB(), "KLUCB"),
        (robai.MOSS(), r"KLUCB\(level='\+\+'\)"),
        (robai.AdaUCB(), "KLUCB"),
        (robai.MOSS(anytime=True), r"KLUCB\(level='\+\+'\)"),
        (robai.EOCP(0.5), "KLEOCP"),
        (robai.EOCPUG(), "KLEOCPUG"),
        (robai.BAIETC(), "KLEOCPUG"),
        (robai.ETC(0.5), "KLEOCP"),
        (robai.SPRTETC(0.5), "KLEOCPUG"),
        (robai.DETC(), "KLEOCPUG"),
        (robai.DETCK(), "KLEOCPUG"),
        (robai.UCBAlpha(), "KLLUCB"),
        (robai.ActionElimination(), "Racing"),
        (robai.LUCB(), "KLLUCB"),
        (robai.LilUCB(), "KLLUCB"),
        (robai.Policy(rules.UpperBound()), "KLUpperBound"),
    ],
    ids=lambda each: repr(each),
)
def test_rewards_without_a_proxy_are_refused_with_the_way_out(policy, way, bandit):
    name = "UpperBound" if isinstance(policy, robai.Policy) else type(policy).__name__
    with pytest.raises(ValueError, match=rf"^{name} needs sigma-sub-Gaussian rewards.*use {way}.*sigma="):
        robai.simulate(policy, bandit, 100, 1)


@pytest.mark.parametrize(
    ("policy", "bandit", "message"),
    [
        (
            robai.UCBV(),
            robai.Poisson([1, 2]),
            r"UCBV needs rewards from an interval, .*: use KLUCB\(\), which",
        ),
        (
            robai.Policy(rules.BernsteinBound()),
            robai.Poisson([1, 2]),
            r"BernsteinBound needs rewards from an interval, .*: use KLUpperBound, which",
        ),
        (
            robai.Policy(rules.RoundRobin(), commit=rules.BernsteinLower()),
            robai.Poisson([1, 2]),
            "BernsteinLower needs rewards from an interval, .*: use KLLowerBound, which",
        ),
        (
            robai.UCBV(),
            robai.Sampler(len, [1, 2]),
            r"UCBV needs rewards .*\[-inf, inf\]: say which, if there",
        ),
        (
            robai.UCB(),
            robai.Sampler(len, [1, 2]),
            "UCB needs .* not for any sigma: pass sigma= to assume one$",
        ),
        (
            robai.KLUCB(),
            robai.Empirical([[0, 3], [1]]),
            r"KLUCB needs a reward family, .* have none: pass family=families.Bounded\(0.0, 3.0\)$",
        ),
        (
            robai.KLEOCP(0.1),
            robai.Sampler(len, [1, 2]),
            r"KLEOCP needs a reward .*: say Sampler\(family=...\) or",
        ),
        (
            robai.Policy(rules.KLUpperBound()),
            robai.Sampler(len, [1, 2]),
            "KLUpperBound needs a reward family",
        ),
        (
            robai.IMED(),
            robai.Sampler(len, [1, 2], family="gaussian"),
            r"IMED needs a known .*: use KLUCB\(\)",
        ),
    ],
    ids=repr,
)
def test_who_asked_is_named_with_a_way_out(policy, bandit, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        robai.simulate(policy, bandit, 100, 1)


def test_what_is_known_of_rewards():
    assert families.Gaussian(2.5).proxy == 2.5
    assert families.Gaussian((1, 2)).proxy == (1.0, 2.0)
    assert families.Gaussian().proxy is None
    assert families.Bernoulli().proxy == 0.5
    assert families.Binomial(16).proxy == 2.0
    assert families.Bounded(-1, 5).proxy == 3.0
    assert robai.Empirical([[0.0, 4.0], [1.0]]).proxy == 2.0
    assert robai.Empirical([[1.0], [1.0]]).proxy > 0.0
    for family in (
        families.Poisson(),
        families.Exponential(),
        families.Gamma(2),
        families.NegativeBinomial(2),
    ):
        assert family.proxy is None


def texts(caught):
    return [str(each.message) for each in caught if issubclass(each.category, robai.AssumptionWarning)]


def test_too_small_a_sigma_is_warned_of_once_a_policy():
    wide = robai.Gaussian([0.7, 0.2], sigma=3.0)
    policies = [robai.UCB(sigma=1.0), robai.EOCPUG(sigma=1.0), robai.UCB(), robai.EOCPUG(sigma=4.0)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robai.compare(policies, wide, 100, 2, rng=0)
    assert texts(caught) == [
        f"{name}(sigma=1.0) assumes sigma 1, these rewards have 3: its bounds are too narrow, commitments "
        "and regret are not what the policy promises"
        for name in ("UCB", "EOCPUG")
    ]
    assert all(each.filename == __file__ for each in caught)
    with warnings.catch_warnings(record=True) as again:
        warnings.simplefilter("always")
        robai.sweep(policies, wide, [100, 200, 300], 2, rng=0)
    assert texts(again) == texts(caught)
    assert all(each.filename == __file__ for each in again)
    with pytest.warns(robai.AssumptionWarning, match="assumes sigma 1, these rewards have 2"):
        robai.Agent(robai.UCB(sigma=1.0), 2, 100, reward=families.Gaussian(2.0))
    with pytest.warns(robai.AssumptionWarning, match="assumes sigma 1, these rewards have 3"):
        robai.simulate(robai.KLUCB(family=families.Gaussian(1.0)), wide, 100, 1)
    with pytest.warns(robai.AssumptionWarning, match="assumes sigma 1, these rewards have 2"):
        robai.simulate(robai.UCB(sigma=1.0), robai.Gaussian([1, 0], sigma=(0.5, 2.0)), 100, 1)


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        (robai.EOCP(0.6), "0.6"),
        (robai.KLEOCP(0.7), "0.7"),
        (robai.EOCP(0.5), None),
        (robai.KLEOCP(0.5), None),
    ],
    ids=repr,
)
def test_a_gap_that_is_not_there_is_warned_of(policy, told):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robai.simulate(policy, robai.Bernoulli([0.7, 0.2]), 100, 1)
    assert len(texts(caught)) == (told is not None)
    if told:
        assert f"is told {told} as the smallest difference, this bandit has 0.5" in texts(caught)[0]


@pytest.mark.parametrize(
    ("policy", "bandit", "true"),
    [
        (robai.KLEOCP(5.0), robai.Bernoulli([1.0, 0.5]), "2.77259"),  # 4 KL(1, 1/2), an edge of the domain
        (robai.KLEOCP(0.3, family=families.Gaussian(0.9)), robai.Bernoulli([0.7, 0.2]), "0.154321"),
        (robai.KLEOCP(0.9, family="bernoulli"), robai.Beta([0.7, 0.2], 1.0), "0.534111"),
        (robai.KLEOCP(0.9, family="bernoulli"), robai.Empirical([[0, 1], [0]]), "0.693147"),
        (robai.KLEOCP(2.0), robai.Bernoulli([1.0, 0.5]), None),
        (robai.KLEOCP(0.3), robai.Bernoulli([0.7, 0.2]), None),
        (robai.KLEOCP(0.3, family="gaussian"), robai.Gaussian([0.7, 0.2]), None),
    ],
    ids=repr,
)
def test_a_divergence_is_that_of_the_family_told(policy, bandit, true):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robai.simulate(policy, bandit, 100, 1)
    found = texts(caught)
    assert len(found) == (true is not None)
    if true:
        assert f"is told {policy.kl:g} as the smallest difference, this bandit has {true}:" in found[0]


def test_a_divergence_is_computed_once(monkeypatch):
    from robai.theory import hardness

    computed = []
    smallest = hardness.smallest_divergences
    monkeypatch.setattr(
        hardness, "smallest_divergences", lambda *given: computed.append(1) or smallest(*given)
    )
    for seed in range(3):
        robai.simulate(robai.KLEOCP(0.1), robai.Bernoulli([0.71, 0.23]), 100, 1, rng=seed)
    assert len(computed) == 1


@pytest.mark.parametrize(
    ("family", "bandit", "variances"),
    [
        (families.Poisson(), robai.NegativeBinomial([3, 2], r=2), "3 at mean 3, these have 7.5"),
        (families.NegativeBinomial(4), robai.NegativeBinomial([3, 2], r=2), "5.25 at mean 3, these have 7.5"),
        (families.Gamma(5), robai.Gamma([3, 2.5], shape=0.1), "1.8 at mean 3, these have 90"),
        (families.Exponential(), robai.Poisson([3, 0.2]), "0.04 at mean 0.2, these have 0.2"),
        (families.Gaussian(2), robai.Poisson([3, 5]), "4 at mean 5, these have 5"),
        (families.Gaussian(3), robai.Poisson([3, 5]), None),
        (families.Gamma(0.1), robai.Gamma([3, 2.5], shape=5), None),
        (families.NegativeBinomial(4), robai.Poisson([3, 2]), None),
        (families.Poisson(), robai.Bernoulli([0.7, 0.2]), None),
        (families.Bernoulli(), robai.Beta([0.7, 0.2], 1.0), None),
        (families.Bounded(), robai.Bernoulli([0.7, 0.2]), None),
        (families.Bernoulli(), robai.Empirical([[0, 1], [0.5]]), None),
        (families.Gaussian(), robai.Gaussian([1, 0], sigma=9), None),
    ],
    ids=repr,
)
def test_a_family_that_varies_less_than_the_rewards_is_warned_of(family, bandit, variances):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robai.simulate(robai.KLEOCPUG(family=family), bandit, 100, 1)
    found = texts(caught)
    assert len(found) == (variances is not None)
    if variances:
        assert f"takes rewards for those of {family!r}, of variance {variances}: its bounds are" in found[0]


def test_the_table_of_defaults():
    """Regret at T = 1e5: with sigma = 1 as the paper has it, and with the default, which is 1/2."""
    two, four = robai.Bernoulli([0.7, 0.2]), robai.Bernoulli([0.7, 0.2, 0.2, 0.2])
    rows = [
        (two, robai.EOCP(0.5), (32.19, 0.08), (8.34, 0.04)),
        (two, robai.EOCPUG(), (32.84, 0.11), (8.44, 0.05)),
        (two, robai.UCB(), (43.42, 0.16), (11.35, 0.08)),
        (two, robai.BAIETC(), (50.21, 0.16), (14.99, 0.09)),
        (two, robai.DETC(), (58.88, 0.17), (19.59, 0.08)),
        (two, robai.UCBAlpha(), (113.9, 0.2), (27.15, 0.10)),
        (four, robai.EOCP(0.5, inflation=0.2), (92.14, 0.14), (23.86, 0.07)),
        (four, robai.EOCPUG(inflation=0.2), (79.13, 0.18), (21.26, 0.09)),
        (four, robai.UCB(), (130.4, 0.3), (34.09, 0.14)),
        (four, robai.ActionElimination(), (551.4, 0.9), (137.3, 0.5)),
        (four, robai.DETCK(), (179.4, 1.3), (93.3, 1.7)),
    ]
    for bandit, policy, *known in rows:
        for each, (value, error) in zip((dataclasses.replace(policy, sigma=1.0), policy), known, strict=True):
            regret = robai.simulate(each, bandit, 10**5, 1000, rng=11).digest().regret
            assert abs(regret.value - value) < 5 * np.hypot(regret.sem, error), each


def test_a_budget_that_is_the_horizon_ends_with_a_commitment():
    bandit = robai.Gaussian([0.7, 0.2])
    at_the_end = robai.Policy(robai.UCB(), stop=rules.FixedRound(1000))
    for engine in ("step", "leap"):
        result = robai.simulate(at_the_end, bandit, 1000, 50, rng=0, engine=engine)
        assert (result.commit_time == 1000).all()
        assert set(result.committed_arm.tolist()) <= {0, 1}
        never = robai.simulate(robai.UCB(), bandit, 1000, 50, rng=0, engine=engine)
        assert (never.commit_time == -1).all()
        assert (never.pulls == result.pulls).all()
    agent = robai.Agent(robai.Policy(rules.RoundRobin(), rules.FixedRound(4)), 2, 4, reward="bounded")
    for reward in (1, 0, 1, 0):
        agent.update(agent.select(), reward)
    assert (agent.select(), agent.commit_time) == (0, 4)


def test_the_name_gaussian_is_of_unknown_variance():
    assert families.as_family("gaussian") == families.Gaussian(sigma=None, variance="both")
    assert robai.Gaussian([1, 0]).family == families.Gaussian(1.0)
    with pytest.raises(ValueError, match=r"families.Gaussian\(1.0\)"):
        robai.theory.lai_robbins([1, 0], family="gaussian")
    with pytest.raises(ValueError, match=r"families.Gaussian\(1.0\)"):
        robai.kl.divergence("gaussian", 0.0, 1.0)
    with pytest.raises(
        ValueError, match=r"variance is unknown: use KLEOCPUG\(\).*families.Gaussian\(sigma\)"
    ):
        robai.Agent(robai.EOCPUG(), 2, 100, reward="gaussian")


def test_unequal_variances_in_theory():
    bandit = robai.Gaussian([0.7, 0.2, 0.1], sigma=(1.0, 2.0, 3.0))
    assert robai.theory.lai_robbins(bandit) == pytest.approx(2 * 4 / 0.5 + 2 * 9 / 0.6)
    weights, time = robai.theory.weights(robai.Gaussian([0.7, 0.2], sigma=(1.0, 3.0)))
    assert weights == pytest.approx([0.25, 0.75])
    assert time == pytest.approx(2 * 4**2 / 0.5**2)
    weights, time = robai.theory.weights(bandit)
    spread = np.array([1.0, 4.0, 9.0]) / weights
    costs = np.array([0.5, 0.6]) ** 2 / 2 / (spread[0] + spread[1:])
    assert costs == pytest.approx([1 / time] * 2)


def test_a_game_has_a_sigma_for_each_arm():
    game = Game.of(3, 100, robai.Gaussian([1, 2, 3], sigma=2.0))
    assert game.scales(rules.UpperBound()).tolist() == [2.0] * 3
    assert game.scales(rules.UpperBound(sigma=(1, 2, 3))).tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="one for each of 3 arms"):
        game.scales(rules.UpperBound(sigma=(1, 2)))
