"""Instances: every run with means of its own, by both engines, and what a result says of them."""

import concurrent.futures
import multiprocessing
import pickle

import numpy as np
import pytest
from support.examples import Turns

import robai
from robai import families, priors

UNIFORM = robai.Instances("bernoulli", priors.Uniform(0, 1), 4)
HORIZON = 2000
LAWS = [
    ("bernoulli", priors.Uniform(0.1, 0.9), robai.Bernoulli),
    (families.Gaussian(1.5), priors.Normal(0.0, 1.0), lambda means: robai.Gaussian(means, sigma=1.5)),
    ("poisson", priors.Uniform(0.5, 2.0), robai.Poisson),
    ("exponential", priors.Uniform(0.5, 2.0), robai.Exponential),
    (families.Gamma(2.0), priors.Uniform(0.5, 2.0), lambda means: robai.Gamma(means, shape=2.0)),
    (families.Binomial(3), priors.Uniform(0.5, 2.0), lambda means: robai.Binomial(means, n=3)),
    (families.NegativeBinomial(2.0), priors.Uniform(0.5, 2.0), lambda m: robai.NegativeBinomial(m, r=2.0)),
]
NAMES = [law[2].__name__ if isinstance(law[2], type) else repr(law[0]) for law in LAWS]


def scalable(policy, family):
    """UCB where rewards are sub-Gaussian, else one that knows the family."""
    return policy if families.as_family(family).proxy is not None else robai.KLUCB()


@pytest.mark.parametrize("engine", ["step", "leap"])
@pytest.mark.parametrize(("family", "prior", "bandit"), LAWS, ids=NAMES)
@pytest.mark.parametrize("policy", [robai.UCB(), robai.KLEOCPUG()], ids=str)
def test_every_run_is_that_of_its_own_bandit(policy, family, prior, bandit, engine):
    policy = scalable(policy, family)
    instances = robai.Instances(family, prior, 3)
    result = robai.simulate(policy, instances, HORIZON, 6, rng=11, engine=engine, curves=True)
    for run, means in enumerate(result.means):
        alone = robai.simulate(policy, bandit(means), HORIZON, run + 1, rng=11, engine=engine, curves=True)
        assert (alone.pulls[run] == result.pulls[run]).all()
        assert (alone.curves[run] == result.curves[run]).all()
        assert alone.commit_time[run] == result.commit_time[run]
        assert alone.committed_arm[run] == result.committed_arm[run]


@pytest.mark.parametrize(
    "policy",
    [robai.ThompsonSampling(), robai.TrackAndStop(delta=0.1), robai.ActionElimination(), robai.DETCK()],
    ids=str,
)
def test_policies_without_an_index(policy):
    result = robai.simulate(policy, UNIFORM, HORIZON, 4, rng=11)
    for run, means in enumerate(result.means):
        alone = robai.simulate(policy, robai.Bernoulli(means), HORIZON, run + 1, rng=11)
        assert (alone.pulls[run] == result.pulls[run]).all()


def test_leaps_have_the_law_of_steps():
    played = [
        robai.simulate(robai.KLUCB(), UNIFORM, 10**4, 1500, rng=5, engine=engine)
        for engine in ("step", "leap")
    ]
    assert (played[0].means == played[1].means).all()
    difference = played[0].final_regret - played[1].final_regret
    assert difference.any()
    assert abs(difference.mean()) < 5 * difference.std() / np.sqrt(1500)


def test_policies_in_python_meet_the_same_instances():
    python = robai.simulate(Turns(), UNIFORM, 100, 5, rng=2)
    assert (python.means == robai.simulate(robai.UCB(), UNIFORM, 100, 5, rng=2).means).all()
    assert np.allclose(python.final_regret, 25 * python.gaps.sum(axis=1))


def test_means_come_from_the_seed_and_the_run_alone():
    """From a stream of their own, a block of 256 runs at a time."""
    result = robai.simulate(robai.UCB(), UNIFORM, 10, 600, rng=np.random.SeedSequence(7, spawn_key=(3,)))
    for block in range(3):
        sequence = np.random.SeedSequence(7, spawn_key=(3, 0x1A57, block))
        expected = np.random.default_rng(sequence).uniform(0, 1, (256, 4))
        found = result.means[256 * block : 256 * (block + 1)]
        assert (found == expected[: len(found)]).all()


def equal(one, other):
    return one == other and (one.means == other.means).all() and (one.gaps == other.gaps).all()


def test_any_workers_batches_and_prefixes_give_the_same(tmp_path):
    whole = robai.simulate(robai.KLEOCPUG(), UNIFORM, HORIZON, 300, rng=1, workers=1)
    assert equal(whole, robai.simulate(robai.KLEOCPUG(), UNIFORM, HORIZON, 300, rng=1, workers=3))
    few = robai.simulate(robai.KLEOCPUG(), UNIFORM, HORIZON, 70, rng=1)
    assert (few.means == whole.means[:70]).all()
    assert (few.pulls == whole.pulls[:70]).all()
    for _ in range(2):  # played, and then read
        kept = robai.simulate(robai.KLEOCPUG(), UNIFORM, HORIZON, 300, rng=1, checkpoint=tmp_path)
        assert equal(whole, kept)


def test_processes_are_handed_means_and_no_prior():
    """So that a prior that cannot be sent to them does as well."""
    instances = robai.Instances("bernoulli", lambda rng, size: rng.beta(2, 3, (size, 3)), 3)
    here = robai.simulate(robai.KLUCB(), instances, 500, 40, rng=1)
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        there = robai.simulate(robai.KLUCB(), instances, 500, 40, rng=1, executor=pool)
    assert equal(here, there)


def test_a_checkpoint_with_a_fresh_seed_goes_on_with_its_instances(tmp_path):
    policies = [robai.KLUCB(), robai.UCB()]
    first = robai.compare(policies, UNIFORM, 500, 70, checkpoint=tmp_path)
    second = robai.compare(policies, UNIFORM, 500, 130, checkpoint=tmp_path)
    for label in first:
        assert (second[label].means[:70] == first[label].means).all()
        assert (second[label].pulls[:70] == first[label].pulls).all()
    other = robai.Instances("bernoulli", priors.Uniform(0, 0.5), 4)
    with pytest.raises(ValueError, match="of another simulation: its bandit"):
        robai.compare(policies, other, 500, 70, checkpoint=tmp_path)


def test_what_nobody_can_identify_has_no_checkpoint(tmp_path):
    instances = robai.Instances("bernoulli", lambda rng, size: rng.random((size, 3)), 3)
    with pytest.raises(ValueError, match="checkpoint must be None, because Function"):
        robai.simulate(robai.UCB(), instances, 500, 10, checkpoint=tmp_path)
    assert not list(tmp_path.iterdir())


def test_comparisons_are_paired():
    compared = robai.compare([robai.UCB(), robai.KLUCB()], UNIFORM, HORIZON, 50, rng=4)
    one, other = compared.values()
    assert (one.gaps == other.gaps).all()
    again = robai.simulate(robai.KLUCB(), UNIFORM, HORIZON, 50, rng=4)
    assert equal(again, other)
    with pytest.raises(ValueError, match="results must share horizon and gaps"):
        robai.Comparison([one, robai.simulate(robai.KLUCB(), UNIFORM, HORIZON, 50, rng=5)])
    assert "KLUCB" in compared.summary()


@pytest.fixture(scope="module")
def result():
    return robai.simulate(robai.KLEOCPUG(), UNIFORM, HORIZON, 120, rng=9, curves=True)


def test_result(result):
    assert result.means.shape == result.gaps.shape == result.pulls.shape == (120, 4)
    assert result.n_arms == 4
    assert (result.best_arm == result.means.argmax(axis=1)).all()
    assert np.allclose(result.final_regret, (result.pulls * result.gaps).sum(axis=1))
    assert result.regret[-1] == pytest.approx(result.final_regret.mean())
    assert result.regret_sem[-1] == pytest.approx(result.final_regret.std(ddof=1) / np.sqrt(120))
    wrong = [
        result.gaps[run, arm] > 0
        for run, arm in enumerate(result.committed_arm)
        if result.commit_time[run] >= 0
    ]
    assert result.wrong_commit()[:2] == (sum(wrong), len(wrong))
    assert len(wrong) > 0
    ranked = result.pulls_by_rank()
    for run in range(120):
        order = sorted(range(4), key=lambda arm: -result.means[run, arm])
        assert ranked[run].tolist() == [result.pulls[run, arm] for arm in order]
    assert result.digest().shares == pytest.approx(tuple(ranked.mean(axis=0) / HORIZON))


def test_a_bandit_has_vectors():
    alone = robai.simulate(robai.UCB(), robai.Gaussian([0.2, 0.7, 0.4]), 100, 5, rng=0)
    assert alone.means.tolist() == [0.2, 0.7, 0.4]
    assert alone.gaps.shape == (3,)
    assert alone.best_arm == 1
    assert (alone.pulls_by_rank() == alone.pulls[:, [1, 2, 0]]).all()


def test_save_and_load(result, tmp_path):
    result.save(tmp_path / "result.npz")
    loaded = robai.Result.load(tmp_path / "result.npz")
    assert equal(loaded, result)
    assert loaded.meta == result.meta
    assert equal(pickle.loads(pickle.dumps(result)), result)
    compared = robai.compare([robai.UCB(), robai.KLUCB()], UNIFORM, HORIZON, 20, rng=4)
    compared.save(tmp_path / "compared.npz")
    assert dict(robai.Comparison.load(tmp_path / "compared.npz")) == dict(compared)


def test_table(result):
    frame = result.to_dataframe("runs")
    gaps = np.sort(result.gaps, axis=1)
    assert np.allclose(frame["gap_min"], gaps[:, 1])
    assert np.allclose(frame["complexity"], (1 / gaps[:, 1:] ** 2).sum(axis=1))
    assert (frame["pulls_2"] == result.pulls[:, 2]).all()


def test_summary_speaks_of_ranks_and_of_gaps_that_are_smaller_than_told(result):
    assert "rank 1" in result.summary()
    assert "mean gap" in result.summary()
    eocp = robai.simulate(robai.EOCP(gap=0.1), UNIFORM, HORIZON, 120, rng=9)
    below = (np.sort(eocp.gaps, axis=1)[:, 1] < 0.1).sum()
    assert f"{below} of 120 runs had one below 0.1, which the policy was told" in eocp.summary()
    assert "which the policy was told" not in result.summary()


@pytest.mark.parametrize("family", ["bernoulli", families.Poisson(), families.Gaussian((0.2, 0.4, 0.1))])
def test_summary_speaks_of_divergences_that_are_smaller_than_told(family):
    """Also of a result that was saved and loaded, with equal arms and a sure one among the instances."""
    rng = np.random.default_rng(4)
    means = np.vstack([rng.uniform(size=(50, 3)), [[0.5, 0.5, 0.1], [1.0, 0.5, 0.2]]])
    told = 0.1
    single = [robai.theory.kl_min(row, family=family) for row in means[:50]] + [0.0, 4 * np.log(2)]
    result = robai.simulate(robai.KLEOCP(told), robai.Instances(family, means), 500, len(means), rng=0)
    if family != "bernoulli":  # of which 1 is the edge
        single[-1] = robai.theory.kl_min(means[-1], family=family)
    below = sum(kl < told for kl in single)
    assert 5 < below < 50
    text = f"divergences {below} of 52 runs had one below 0.1, which the policy was told"
    assert text in result.summary()
    again = pickle.loads(pickle.dumps(result))
    assert text in again.summary()


def test_divergences_are_those_of_the_policys_own_family():
    means = np.random.default_rng(4).uniform(size=(50, 3))
    told = 0.1
    policy = robai.KLEOCP(told, family=families.Gaussian(0.5))
    below, others = (
        sum(robai.theory.kl_min(row, family=family) < told for row in means)
        for family in (families.Gaussian(0.5), families.Bernoulli())
    )
    assert below != others
    result = robai.simulate(policy, robai.Instances("bernoulli", means), 500, len(means), rng=0)
    assert f"{below} of 50 runs had one below 0.1, which the policy was told" in result.summary()


def test_equal_best_arms_of_a_run_are_all_right():
    instances = robai.Instances(families.Gaussian(0.1), [[1.0, 1.0, 0.0], [0.0, 1.0, 0.5]])
    result = robai.simulate(robai.EOCPUG(), instances, 2000, 40, rng=0)
    assert result.best_arm.tolist() == [-1, 1] * 20
    assert result.wrong_commit().count == 0
    assert result.to_dataframe("runs")["complexity"].tolist()[:2] == [np.inf, pytest.approx(5.0)]


def test_figures(result):
    pytest.importorskip("matplotlib").use("Agg")
    labels = [text.get_text() for text in result.plot_pulls().get_legend().get_texts()]
    assert labels == ["rank 1 (best)", "rank 2", "rank 3", "rank 4"]
    for draw in (result.plot, result.plot_commitment, result.plot_wrong_commit, result.plot_final_regret):
        draw()


def test_the_lower_bound_is_the_mean_over_the_runs(result):
    each = [robai.theory.lai_robbins(row, family="bernoulli") for row in result.means]
    assert robai.theory.lai_robbins(result, family="bernoulli") == pytest.approx(np.mean(each))
    sigma = families.Gaussian((1.0, 2.0, 3.0, 4.0))
    each = [robai.theory.lai_robbins(row, family=sigma) for row in result.means]
    assert robai.theory.lai_robbins(result.means, family=sigma) == pytest.approx(np.mean(each))
    with pytest.raises(ValueError, match="no means of its own"):
        robai.theory.lai_robbins(UNIFORM)


def test_gaussian_rewards_far_from_0_keep_their_digits():
    means = np.array([[0.0, 0.5], [1e12 + 0.5, 1e12]])
    instances = robai.Instances(families.Gaussian(1.0), means)
    shifted = robai.simulate(robai.UCB(), instances, HORIZON, 2, rng=0, engine="step")
    plain = robai.simulate(robai.UCB(), robai.Gaussian([1e12 + 0.5, 1e12]), HORIZON, 2, rng=0, engine="step")
    assert (shifted.pulls[1] == plain.pulls[1]).all()


def test_instances_are_specifications():
    again = robai.Instances("bernoulli", priors.Uniform(0.0, 1.0), n_arms=4)
    assert again == UNIFORM
    assert hash(UNIFORM) == hash(again)
    assert robai.Instances.from_dict(UNIFORM.to_dict()) == UNIFORM
    assert repr(UNIFORM) == "Instances(family=Bernoulli(), prior=Uniform(low=0.0, high=1.0), n_arms=4)"
    assert pickle.loads(pickle.dumps(UNIFORM)) == UNIFORM
    assert UNIFORM.proxy == 0.5
    assert repr(robai.Instances("bernoulli", priors.Uniform(), 2000)).endswith("n_arms=2000)")
    given = robai.Instances("poisson", [[1.0, 2.0, 0.5]])
    assert given.n_arms == 3
    assert robai.Instances.from_dict(given.to_dict()) == given


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bernuli", priors.Uniform(), 3), "family must be one of"),
        (("gaussian", priors.Normal(), 3), r"families.Gaussian\(1.0\)"),
        (("bounded", priors.Uniform(), 3), "family must be one that rewards can be drawn from"),
        (("bernoulli", priors.Uniform(), 1), "n_arms must be from 2"),
        (("bernoulli", priors.Uniform()), "n_arms must be a whole number for Uniform"),
        (("bernoulli", priors.Uniform(), 2.5), "n_arms must be a whole number, got 2.5"),
        (("bernoulli", [[0.5, 0.2]], 3), "n_arms must be that of the prior, 2, got 3"),
        (("bernoulli", [[0.5, 0.2], [0.5, 1.5]]), r"prior \(row 1, arm 1\) must be in \[0, 1\].*got 1.5"),
        (("bernoulli", [[0.5, 0.2], [0.5, np.nan]]), r"prior \(row 1, arm 1\) must be finite"),
        (("exponential", [[0.0, 0.2]]), r"prior \(row 0, arm 0\) must be in \(0"),
        ((families.Gaussian((1.0, 2.0)), priors.Normal(), 3), "one for each of 3 arms"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        robai.Instances(*arguments)


def test_means_outside_the_domain_are_found_before_anything_is_played(tmp_path):
    def prior(rng, size):
        means = rng.random((size, 2))
        means[130] = -0.25
        return means

    with pytest.raises(ValueError, match=r"prior \(run 130, arm 0\) must be in \[0, 1\] for .*, got -0.25"):
        robai.simulate(robai.UCB(), robai.Instances("bernoulli", prior, 2), 100, 200, rng=0)
    instances = robai.Instances("bernoulli", priors.Normal(), 2)
    with pytest.raises(ValueError, match=r"prior \(run \d+, arm \d\)"):
        robai.simulate(robai.UCB(), instances, 100, 200, rng=0, checkpoint=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_result_checks_its_gaps_run_by_run(result):
    values = {name: getattr(result, name) for name in vars(result)}
    with pytest.raises(ValueError, match="means must be finite, with these gaps"):
        robai.Result(**values | {"means": result.means[::-1]})
    with pytest.raises(ValueError, match="0 for the best arm"):
        robai.Result(**values | {"gaps": result.gaps + 0.5 * (np.arange(120) == 7)[:, None], "means": []})
    with pytest.raises(ValueError, match=r"gaps must have shape \(120, 4\)"):
        robai.Result(**values | {"gaps": result.gaps[:100]})
    with pytest.raises(ValueError, match=r"means must have shape \(120, 4\)"):
        robai.Result(**values | {"means": result.means[0]})
    unknown = robai.Result(**values | {"means": []})
    assert np.isnan(unknown.means).all()
    assert unknown.means.shape == (120, 4)
    assert unknown == robai.Result(**values | {"means": []}) != result
    with pytest.raises(ValueError, match="final_regret must be that of the pulls"):
        robai.Result(**values | {"pulls": result.pulls[::-1]})


def test_many_given_means_are_described_once(monkeypatch):
    """By a hash, which takes longer than a small simulation does."""
    means = np.random.default_rng(0).uniform(size=(2000, 3))
    bandit, calls, described = robai.Instances("bernoulli", means), [], priors.Given.to_dict
    monkeypatch.setattr(priors.Given, "to_dict", lambda prior: calls.append(prior) or described(prior))
    first = robai.simulate(robai.UCB(), bandit, 100, 2, rng=0).meta["bandit"]
    first["prior"]["means"]["length"] = 0  # somebody's own
    second = robai.simulate(robai.UCB(), bandit, 100, 2, rng=0).meta["bandit"]
    assert len(calls) == 1
    assert second["prior"]["means"]["length"] == 2000
    for other in (means[::-1], means.reshape(3000, 2), means + 1e-16):
        assert robai.Instances("bernoulli", other).brief() != second
    assert robai.Instances("bernoulli", means.copy()).brief() == second
