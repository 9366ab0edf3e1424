"""Reasons: the numbers are those that the rules compared, also when rewards are late and unequal."""

import math

import numpy as np
import pytest
from support.reference_divergences import divergence, lower, upper

import robai
from robai import families, rules
from robai._core.protocols import Evidence, intervals
from robai.rules import Game

HORIZON = 10_000
LEVEL = math.log(HORIZON) + math.sqrt(math.log(HORIZON))

UNIT = families.Gaussian(1.0)


def means(n, s):
    return [total / count for count, total in zip(n, s, strict=True)]


def others(n, arm):
    return [other for other in range(len(n)) if other != arm]


def fixed_round(n, s):
    return sum(n) >= 150, sum(n), 150


def imbalance(n, s):
    most, second = sorted(n)[-1], sorted(n)[-2]
    return most - LEVEL * second > 1, most, LEVEL * second + 1


def width(count, delta=1 / HORIZON, sigma=0.5):
    return sigma * math.sqrt(2 / count * max(math.log(3 * math.log(count) ** 2 / delta), 0))


def separation(n, s):
    m = means(n, s)
    best = m.index(max(m))
    floor, ceiling = m[best] - width(n[best]), max(m[a] + width(n[a]) for a in others(n, best))
    return floor > ceiling, floor, ceiling


def mean_gap(n, s):
    first, second = means(n, s)
    t = 2 * min(n)
    asked = 0.5 * math.sqrt(8 * math.log(HORIZON / t) / t)
    return sum(n) % 2 == 0 and abs(first - second) >= asked, abs(first - second), asked


def ratio(n, s, family=families.Bernoulli()):  # noqa: B008
    m = means(n, s)
    best = m.index(max(m))

    return min(ratio_of(n, s, best, other, family) for other in others(n, best))


def ratio_of(n, s, a, b, family=families.Bernoulli()):  # noqa: B008
    pooled = (s[a] + s[b]) / (n[a] + n[b])
    return n[a] * divergence(family, s[a] / n[a], pooled) + n[b] * divergence(family, s[b] / n[b], pooled)


def guard(n, s):
    return ratio(n, s) >= 0.7 * math.log(HORIZON), ratio(n, s), 0.7 * math.log(HORIZON)


def anytime(n, s):
    asked = math.log((1 + math.log(sum(n))) / 0.05)
    return ratio(n, s) >= asked, ratio(n, s), asked


def pair(n, s):
    m = means(n, s)
    best = m.index(max(m))
    ratios = {a: ratio_of(n, s, best, a) for a in others(n, best)}
    bars = {a: math.log(2 * (1 + math.log(n[best] + n[a])) / 0.05) for a in ratios}
    return closest(ratios, bars)


def share_of_the_horizon(n, s):
    m = means(n, s)
    best = m.index(max(m))
    ratios = {a: ratio_of(n, s, best, a) for a in others(n, best)}
    return closest(ratios, {a: math.log(HORIZON / (n[best] + n[a])) for a in ratios})


def closest(ratios, bars):
    """Of the arm that is closest to its bar."""
    arm = min(ratios, key=lambda a: ratios[a] - bars[a])
    return ratios[arm] >= bars[arm], ratios[arm], bars[arm]


def sprt(n, s):
    first, second = means(n, s)
    value, asked = min(n) * abs(first - second), 0.25 / 0.3 * math.log(HORIZON * 0.3**2 / 0.25)
    return sum(n) % 2 == 0 and value >= asked, value, asked


def fixed_design(n, s):
    t = robai.theory.commit_round_etc(0.4, HORIZON, sigma=0.5)
    return sum(n) >= t, sum(n), t


def known_gap(n, s):
    t = math.floor(robai.theory.commit_round_eocp(3, 0.5, HORIZON, sigma=0.5))
    return sum(n) >= t, sum(n), t


def kl_separation(level):
    """Of Bernoulli bounds at a level, which may depend on the round to come."""

    def formula(n, s):
        f, m = level(sum(n) + 1), [total / count for count, total in zip(n, s, strict=True)]
        best = m.index(max(m))
        low = lower(families.Bernoulli(), m[best], f / n[best])
        high = max(upper(families.Bernoulli(), m[a], f / n[a]) for a in others(n, best))
        return high < low, low, high

    return formula


def lucb(t):
    b = math.log(405.5 * 3 * t**1.1 / 0.05)
    return b + math.log(b)


def hoeffding(n, s):
    f, m = math.log(5 * 3 * (sum(n) + 1) ** 4 / (4 * 0.05)), [a / b for a, b in zip(s, n, strict=True)]
    best = m.index(max(m))
    low = m[best] - math.sqrt(f / (2 * n[best]))
    high = max(m[a] + math.sqrt(f / (2 * n[a])) for a in others(n, best))
    return high < low, low, high


def dominance(n, s):
    most = max(n)
    return most >= 1 + 2 * (sum(n) - most), most, 1 + 2 * (sum(n) - most)


RULES = [
    (rules.Dominance(2.0), dominance),
    (rules.Separation(0.05, bounds="kl", threshold="lucb"), kl_separation(lucb)),
    (
        rules.Separation(0.05, bounds="kl", threshold="practical"),
        kl_separation(lambda t: math.log((1 + math.log(t)) / 0.05)),
    ),
    (rules.Separation(bounds="kl", share=0.7), kl_separation(lambda t: 0.7 * math.log(HORIZON))),
    (rules.Separation(0.05, threshold="lucb"), hoeffding),
    (rules.FixedRound(150), fixed_round),
    (rules.Imbalance(), imbalance),
    (rules.Separation(sigma=0.5), separation),
    (rules.MeanGap(sigma=0.5), mean_gap),
    (rules.LikelihoodRatio(share=0.7), guard),
    (rules.LikelihoodRatio(delta=0.05), anytime),
    (rules.LikelihoodRatio(delta=0.05, threshold="pair"), pair),
    (rules.LikelihoodRatio(level="ratio"), share_of_the_horizon),
    (rules.SPRT(0.3, sigma=0.5), sprt),
    (rules.FixedDesign(0.4, sigma=0.5), fixed_design),
    (rules.KnownGap(0.5, sigma=0.5), known_gap),
]


def counts(seed, arms):
    """Pulls and sums as late and unequal answers leave them: some arms far ahead."""
    chance = np.random.default_rng(seed)
    n = chance.integers(2, 2 + 10 ** chance.integers(1, 4, size=arms)).tolist()
    return n, [float(chance.binomial(count, p)) for count, p in zip(n, chance.random(arms), strict=True)]


@pytest.mark.parametrize(("rule", "formula"), RULES, ids=lambda each: getattr(each, "__name__", ""))
def test_a_rule_reports_what_it_compares(rule, formula):
    arms = 2 if isinstance(rule, rules.MeanGap | rules.SPRT | rules.FixedDesign) else 3
    started = rule.start(Game.of(arms, HORIZON, families.Bernoulli()))
    answers = set()
    for seed in range(200):
        n, s = counts(seed, arms)
        evidence = Evidence(n, s, HORIZON)
        (report,) = started.report(evidence)
        fires, value, asked = formula(n, s)
        assert (report.value, report.asked) == (pytest.approx(value), pytest.approx(asked))
        assert report.fires == started.fires_on(evidence) == fires
        answers.add(fires)
    assert answers == {True, False}


def test_combinations_report_the_rules_that_fired():
    game = Game.of(3, HORIZON, families.Bernoulli())
    evidence = Evidence([900, 20, 20], [800.0, 4.0, 5.0], HORIZON)
    never_yet, imbalance, early = rules.FixedRound(10**4), rules.Imbalance(), rules.FixedRound(5)
    assert [type(each.rule).__name__ for each in (imbalance & early).start(game).report(evidence)] == [
        "Imbalance",
        "FixedRound",
    ]
    assert [each.asked for each in (never_yet | early).start(game).report(evidence)] == [5.0]
    assert (never_yet | (never_yet & early)).start(game).report(evidence) == []
    assert rules.Never().start(game).report(evidence) == []


def told(policy, arms, **answers):
    """An agent that has been told counts and is asked once."""
    agent = robai.Agent(policy, list(answers), HORIZON, reward=arms, rng=0)
    for arm, (n, total) in answers.items():
        agent.update_counts(arm, n, total)
    agent.select()
    return agent


def without_certificate(agent):
    return agent.commit_reason.rpartition("; ")[0]


def test_a_reason_ends_with_the_certificate():
    agent = told(robai.EOCPUG(sigma=1.0), UNIT, a=(40, 2.0), b=(2000, 3000.0))
    least = (1.45**2 / (41 / 40**2 + 2001 / 2000**2) - math.log(41) - math.log(2001)) / 2
    assert agent.commit_reason.rpartition("; ")[2] == (
        f"by its certificate 'b' is not the best arm with probability {math.exp(-least):.2g} at most"
    )
    early = robai.Policy(explore=robai.UCB(sigma=1.0), stop=rules.FixedRound(30))
    assert told(early, UNIT, a=(15, 2.0), b=(15, 1.0)).commit_reason.endswith(
        "; no certificate that 'a' is the best arm"
    )


def test_the_sentence_has_the_numbers_that_were_compared():
    agent = told(robai.BAIETC(sigma=1.0), UNIT, a=(200, 240.0), b=(20, 0.0))
    asked = math.sqrt(8 * math.log(HORIZON / 40) / 40)
    assert without_certificate(agent) == (
        f"the means differed by 1.2, and {asked:.4g} was enough; 'a' had the largest mean, 1.2"
    )
    agent = told(robai.EOCPUG(sigma=1.0), UNIT, a=(40, 2.0), b=(2000, 3000.0), c=(50, 5.0))
    lower = 1.5 - math.sqrt(2 * LEVEL / 2000)
    assert without_certificate(agent) == (
        f"'b' had 2,000 pulls, more than {50 * LEVEL + 1:.1f}: l = {LEVEL:.4g} times the 50 of 'c', the most "
        f"of any other arm, plus one; 'b' had the largest lower bound, {lower:.4g}"
    )
    agent = told(robai.KLEOCPUG(), "bernoulli", a=(40, 5), b=(3000, 2700), c=(50, 10))
    value = ratio([40, 3000, 50], [5.0, 2700.0, 10.0])
    assert f"was at least {value:.4g}, that against 'a', and {0.7 * math.log(HORIZON):.4g} was enough" in (
        agent.commit_reason
    )
    agent = told(robai.UCBAlpha(sigma=0.5), UNIT, a=(400, 0.0), b=(300, 30.0), c=(300, 450.0))
    assert f"the lower bound of 'c', {1.5 - width(300):.4g}, was above" in agent.commit_reason
    assert f"at most {0.1 + width(300):.4g} of 'b'" in agent.commit_reason
    agent = told(
        robai.Policy(explore=robai.UCB(sigma=1.0), stop=rules.FixedRound(30), commit=rules.MostPulled()),
        UNIT,
        a=(20, 1.0),
        b=(15, 2.0),
    )
    assert without_certificate(agent) == (
        "35 rewards had arrived, and exploration was to end at 30; 'a' had the most pulls, 20"
    )


def test_explorations_in_stages_say_what_they_remember():
    agent = told(
        robai.ActionElimination(sigma=1.0),
        UNIT,
        a=(500, 1000.0),
        b=(400, 10.0),
        c=(300, 15.0),
    )
    assert without_certificate(agent) == (
        "all other arms had been dropped, the best of them 'c' with mean 0.05 of 300 pulls; 'a' was left, "
        "with mean 2 of 500 pulls"
    )


def test_ugape_says_its_bounds():
    agent = told(robai.UGapE(delta=0.1), UNIT, a=(500, 1000.0), b=(400, 10.0), c=(300, 15.0))
    f = math.log((1 + math.log(1201)) / 0.1)
    low, high = 2 - math.sqrt(2 * f / 500), 0.05 + math.sqrt(2 * f / 300)
    assert without_certificate(agent) == (
        f"the lower bound of 'a', {low:.4g}, was not below the upper bound of any other arm, at most "
        f"{high:.4g} of 'c'; 'a' was left, with mean 2 of 500 pulls"
    )


def test_lil_ucb_says_its_pulls():
    agent = told(robai.LilUCB(delta=0.1), UNIT, a=(50, 100.0), b=(4, 1.0), c=(3, 1.0))
    assert without_certificate(agent) == (
        "'a' had 50 pulls, at least 31.3: 4.333 times those of all others together, plus one; "
        "'a' had the most pulls, 50"
    )


def played(policy, means):
    """An agent that was played until it committed, with normal rewards, and these in order."""
    agent = robai.Agent(policy, list(means), HORIZON, reward=UNIT, rng=0)
    history = []
    for noise in np.random.default_rng(0).normal(size=HORIZON):
        arm = agent.select()
        if agent.committed:
            break
        history.append((arm, means[arm] + noise))
        agent.update(*history[-1])
    return agent, history


def test_detc_says_what_its_fresh_pulls_were():
    agent, history = played(robai.DETC(sigma=1.0), {"a": 1.0, "b": 0.25})
    mean, n = agent.sums[0] / agent.pulls[0], agent.pulls[0]
    fresh = []  # the last stage pulls the other arm alone
    while history[-1][0] == "b":
        fresh.append(history.pop()[1])
    assert without_certificate(agent) == (
        f"'a' had mean {mean:.4g} of {n:,} pulls, and {len(fresh):,} fresh pulls of 'b' had mean "
        f"{sum(fresh) / len(fresh):.4g}, far enough away; 'a' was left, with mean {mean:.4g} of {n:,} pulls"
    )


LENGTH = math.log(HORIZON) ** 2  # of DETC-K's stages, after ceil(sqrt(log T)) = 4 pulls of every arm


def rewards_of(arm, history):
    return [reward for label, reward in history if label == arm]


def test_detc_k_says_what_the_second_stage_measured():
    agent, history = played(robai.DETCK(sigma=1.0), {"a": 2.0, "b": 0.25, "c": 0.5})
    fresh = math.ceil(LENGTH)
    mean = sum(rewards_of("a", history)[4 : 4 + fresh]) / fresh
    assert len(rewards_of("a", history)) == 4 + fresh
    assert agent.commit_reason.startswith(
        f"'a' had mean {mean:.4g} of {fresh} fresh pulls, and the fresh mean"
    )


def test_detc_k_says_what_the_last_stage_measured():
    agent, history = played(robai.DETCK(sigma=1.0), {"a": 1.0, "b": 1.0, "c": 0.0})
    last = math.floor(LENGTH) + 1
    fresh = {arm: rewards_of(arm, history)[-last:] for arm in "abc"}
    means = ", ".join(f"{arm!r} {sum(rewards) / last:.4g}" for arm, rewards in fresh.items())
    assert agent.commit_reason.startswith(
        f"a challenger held out, and over {LENGTH:.4g} fresh pulls of every arm had means {means}; "
    )


@pytest.mark.parametrize(
    ("policy", "lower", "upper"),
    [
        (robai.EOCPUG(sigma=1.0), LEVEL, LEVEL),
        (robai.UCB(sigma=1.0), math.log(HORIZON), math.log(HORIZON)),
        (robai.ActionElimination(sigma=1.0), math.log(HORIZON), math.log(HORIZON)),
        (robai.ActionElimination(radius="even-dar", sigma=1.0), "even-dar", "even-dar"),
        (robai.UCBAlpha(sigma=1.0), "w", "w"),
        (robai.ThompsonSampling(), None, None),
    ],
    ids=repr,
)
def test_the_bounds_that_are_shown_are_those_that_decide(policy, lower, upper):
    n, s = [30, 70, 5], [10.0, 40.0, 1.0]
    started = policy.start(Game.of(3, HORIZON, UNIT))

    def radius(level, count):
        if level == "even-dar":
            return math.sqrt(2 * math.log(4 * 3 * count * count * HORIZON) / count)
        return width(count, sigma=1.0) if level == "w" else math.sqrt(2 * level / count)

    for arm, (low, high) in enumerate(intervals(started, Evidence(n, s, HORIZON))):
        mean = s[arm] / n[arm]
        assert low == (None if lower is None else pytest.approx(mean - radius(lower, n[arm])))
        assert high == (None if upper is None else pytest.approx(mean + radius(upper, n[arm])))
    assert intervals(started, Evidence([0, 1, 1], [0.0, 1.0, 1.0], HORIZON))[0] == (None, None)


def test_evidence_must_fit():
    for n, s in (([], []), ([1, 2], [1.0])):
        with pytest.raises(ValueError, match="as many pulls as sums"):
            Evidence(n, s, 10)
