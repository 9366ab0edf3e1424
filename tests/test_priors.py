import pickle

import numpy as np
import pytest

from robai import priors

RUNS = range(20_000)


def drawn(prior, n_arms=4, runs=RUNS):
    means = prior.draw(np.random.default_rng(3), runs, n_arms)
    assert means.shape == (len(runs), n_arms)
    return means


def close(values, mean, variance):
    assert abs(values.mean() - mean) < 5 * np.sqrt(variance / values.size)
    assert values.var() == pytest.approx(variance, rel=0.05)


def test_independent_means_have_their_laws():
    uniform = drawn(priors.Uniform(-1.0, 3.0))
    close(uniform, 1.0, 16 / 12)
    assert -1.0 <= uniform.min() < -0.99
    assert 2.99 < uniform.max() <= 3.0
    close(drawn(priors.Normal(2.0, 0.5)), 2.0, 0.25)
    close(drawn(priors.Beta(2.0, 3.0)), 0.4, 0.04)
    assert abs(np.corrcoef(uniform[:, 0], uniform[:, 1])[0, 1]) < 5 / np.sqrt(len(RUNS))


def test_gaps():
    means = drawn(priors.Gaps(0.8, 0.1, 0.4), n_arms=5)
    ordered = np.sort(means, axis=1)[:, ::-1]
    assert (ordered[:, 0] == 0.8).all()
    assert (ordered[:, 1] == 0.8 - 0.1).all()
    assert (ordered[:, 2:] <= 0.7).all()
    assert (ordered[:, 2:] >= 0.3).all()
    close(ordered[:, 2:], 0.5, 0.16 / 12)
    places = np.bincount(means.argmax(axis=1), minlength=5)
    assert np.abs(places - len(RUNS) / 5).max() < 5 * np.sqrt(len(RUNS) * 0.16)
    assert (np.sort(drawn(priors.Gaps(0.8, 0.1), n_arms=3), axis=1)[:, :2] == 0.8 - 0.1).all()


def test_an_array_gives_its_rows_in_turn():
    prior = priors.as_prior("prior", np.array([[1.0, 0.0], [0.5, 0.25], [0.0, 1.0]]))
    rng = np.random.default_rng(0)
    assert prior.draw(rng, range(4, 7), 2).tolist() == [[0.5, 0.25], [0.0, 1.0], [1.0, 0.0]]
    assert prior == priors.Given([[1, 0], [0.5, 0.25], [0, 1]])
    assert hash(prior) == hash(priors.Given([[1, 0], [0.5, 0.25], [0, 1]]))
    assert prior != priors.Given([[1, 0], [0.5, 0.25], [0, 2]])
    assert priors.Prior.from_dict(prior.to_dict()) == prior
    copy = pickle.loads(pickle.dumps(prior))
    assert copy == prior
    assert not copy.means.flags.writeable


def test_a_function_is_asked_for_rows():
    sizes = []

    def prior(rng, size):
        sizes.append(size)
        return rng.integers(0, 2, (size, 3))

    means = priors.as_prior("prior", prior).draw(np.random.default_rng(0), range(5), 3)
    assert sizes == [5]
    assert means.dtype == np.float64
    with pytest.raises(ValueError, match=r"shape \(5, 4\), got int64 of shape \(5, 3\)"):
        priors.as_prior("prior", prior).draw(np.random.default_rng(0), range(5), 4)


@pytest.mark.parametrize(
    "prior", [priors.Uniform(0, 1), priors.Normal(), priors.Beta(2, 3), priors.Gaps(1, 0.5)]
)
def test_priors_are_specifications(prior):
    assert priors.Prior.from_dict(prior.to_dict()) == prior
    assert pickle.loads(pickle.dumps(prior)) == prior


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: priors.Uniform(1, 1), "high must be above low, got 1.0 and 1.0"),
        (lambda: priors.Uniform(0, "1"), "high must be a number, got '1'"),
        (lambda: priors.Normal(0, 0), "sd must be from 1e-100"),
        (lambda: priors.Beta(0, 1), "a must be from 0.001"),
        (lambda: priors.Gaps(1, 0, 0), "gap must be above 0, got 0"),
        (lambda: priors.Gaps(1, 1, -1), "spread must be at least 0, got -1"),
        (lambda: priors.as_prior("prior", "uniform"), "prior must be a prior of robai.priors"),
        (lambda: priors.as_prior("prior", priors.Uniform), "call it to make one"),
        (lambda: priors.as_prior("prior", [0.5, 0.2]), r"instances x arms, got float64 of shape \(2,\)"),
        (lambda: priors.as_prior("prior", None), "got None"),
    ],
)
def test_wrong_arguments_are_named(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()
