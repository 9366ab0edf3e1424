"""Rewards that functions of the user's draw, beta rewards."""

import concurrent.futures
import ctypes
import math
import multiprocessing
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest

import robai
from robai import families
from robai._core.engine import Batch
from robai._core.rng import Stream

MEANS = (0.7, 0.2, 0.4)


def coins(arm, size, rng):
    return rng.binomial(1, MEANS[arm], size)


PYTHON = robai.Sampler(coins, MEANS, support=(0, 1))
LIKE = robai.Binomial(MEANS, n=1)  # which draws the same variables


@pytest.mark.parametrize(
    "policy", [robai.UCB(), robai.KLUCB(family="bernoulli"), robai.KLEOCPUG(family="bernoulli")]
)
def test_python_draws_come_from_the_stream_of_the_run(policy):
    drawn = robai.simulate(policy, PYTHON, 2000, 20, rng=3)
    built_in = robai.simulate(policy, LIKE, 2000, 20, rng=3, engine="step")
    assert drawn.meta["engine"] == "step"
    assert (drawn.pulls == built_in.pulls).all()
    assert (drawn.commit_time == built_in.commit_time).all()
    assert (drawn.pulls == robai.simulate(policy, PYTHON, 2000, 20, rng=3, workers=3).pulls).all()


def by_uniforms(arm, size, rng):
    return rng.random(size) < MEANS[arm]


def test_draws_are_asked_for_a_tape_at_a_time():
    asked = []

    def draw(arm, size, rng):
        asked.append((arm, size))
        return np.full(size, 1.0 - arm)

    robai.simulate(robai.UCB(), robai.Sampler(draw, [1, 0], support=(0, 1)), 500, 1, rng=0, workers=1)
    sizes = [size for arm, size in asked if arm == 0]
    assert sizes[:8] == [1, 1, 2, 4, 8, 16, 32, 64]
    assert max(sizes) == 64


@pytest.mark.parametrize("policy", [robai.UCB(), robai.ThompsonSampling(family="bernoulli")])
def test_a_piece_ends_after_any_draw(policy):
    """So that a slow function does not delay Ctrl-C."""
    asked = []

    def draw(arm, size, rng):
        asked.append(arm)
        return coins(arm, size, rng)

    bandit = robai.Sampler(draw, MEANS, support=(0, 1))
    started = policy.start(robai.rules.Game.of(3, 10**6, bandit))
    batch = Batch(*started, bandit._core(), MEANS, (10**6,), np.array([[1, 2, 3, 4]], dtype=np.uint64))
    for pieces in range(1, 50):
        assert batch.advance(0.0)
        assert len(asked) <= 2 * pieces


def test_policies_in_python_can_play_it():
    class First:
        def select(self, state):
            return 0

        def update(self, arm, reward):
            assert reward in (0.0, 1.0)

    assert robai.simulate(First(), PYTHON, 100, 2, rng=0).final_regret.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (lambda arm, size, rng: 1 / 0, ZeroDivisionError, "division"),
        (lambda arm, size, rng: np.full(size, np.nan), ValueError, "rewards from 0 to 1, got nan for arm"),
        (lambda arm, size, rng: np.full(size, 1.5), ValueError, "rewards from 0 to 1, got 1.5 for arm 0"),
        (
            lambda arm, size, rng: 0.5,
            ValueError,
            r"must return an array of \d+ numbers, got float64 of shape \(\)",
        ),
        (lambda arm, size, rng: np.zeros(size + 1), ValueError, r"must return an array of \d+ numbers"),
        (lambda arm, size, rng: ["a"] * size, ValueError, r"must return an array of \d+ numbers"),
    ],
)
def test_errors_of_draws_reach_the_caller(draw, error, message):
    bandit = robai.Sampler(draw, [0.5, 0.25], support=(0, 1))
    for policy in (robai.UCB(), robai.ThompsonSampling(family="bernoulli")):
        with pytest.raises(error, match=message):
            robai.simulate(policy, bandit, 10**6, 3, rng=0)
    with pytest.raises(error, match=message):
        bandit.check()


def test_check():
    means = PYTHON.check()
    for mean, promised in zip(means, MEANS, strict=True):
        assert abs(mean.value - promised) < 5 * mean.sem
        assert mean.sem == pytest.approx(math.sqrt(promised * (1 - promised) / 10**5), rel=0.01)
    assert PYTHON.check(rng=0) == means != PYTHON.check(rng=1)
    wrong = robai.Sampler(coins, [0.7, 0.2, 0.42], support=(0, 1))
    with pytest.raises(
        ValueError, match=r"means\[2\] must be the mean of the rewards, got 0.42: 100,000 of them"
    ):
        wrong.check()
    constant = robai.Sampler(lambda arm, size, rng: np.full(size, 0.1 * arm), [0.0, 0.1])
    constant.check(n=1000)
    with pytest.raises(ValueError, match="n must be from 2"):
        PYTHON.check(n=1)


def test_the_text_of_many_arms_is_short():
    assert repr(robai.Sampler(coins, [0.5] * 2000)) == "Sampler(coins, 2,000 means)"
    assert repr(PYTHON) == "Sampler(coins, (0.7, 0.2, 0.4))"


def test_what_is_known_of_the_rewards():
    def draw(arm, size, rng):
        return rng.normal(size=size)

    assert robai.Sampler(draw, [0, 0.5]).proxy is None
    assert robai.Sampler(draw, [0, 0.5]).support == (-math.inf, math.inf)
    assert robai.Sampler(draw, [0, 0.5], sigma=1.0).proxy == 1.0
    assert robai.Sampler(draw, [0, 0.5], sigma=(1.0, 2.0)).proxy == (1.0, 2.0)
    assert robai.Sampler(draw, [0, 0.5], support=(-2, 4)).proxy == 3.0
    assert robai.Sampler(draw, [0, 0.5], support=(-2, 4), sigma=0.5).proxy == 0.5
    assert robai.Sampler(draw, [0, 0.5], support=(-2, 4)).family == families.Bounded(-2, 4)
    assert robai.Sampler(draw, [0, 0.5], family=families.Gaussian(2.0)).proxy == 2.0
    with pytest.raises(
        ValueError, match="UCB needs sigma-sub-Gaussian rewards, and these are not for any sigma"
    ):
        robai.simulate(robai.UCB(), robai.Sampler(draw, [0, 0.5]), 100, 1)
    with pytest.raises(ValueError, match="engine='leap' does not apply"):
        robai.simulate(robai.UCB(), PYTHON, 100, 1, engine="leap")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"draw": 1.5}, "draw must be a function"),
        ({"draw": "draw"}, "package.module:object"),
        ({"draw": robai.UCB}, "draw must be a function"),
        ({"means": [0.5]}, "means must have at least two arms"),
        ({"means": [0.5, 2.0]}, r"means\[1\] must be from 0 to 1, got 2.0"),
        ({"means": [0.5, "a"]}, r"means\[1\] must be a number"),
        ({"support": (1, 0)}, "support must be the smallest and then the largest"),
        ({"support": (0, 5), "family": "bernoulli"}, r"rewards in \[0, 1\], got support=\(0.0, 5.0\)"),
        ({"support": 3}, "support must be the smallest and the largest reward, got 3"),
        ({"sigma": -1.0}, "sigma must be"),
        ({"sigma": (1.0, 1.0, 1.0)}, "sigma must be one number, or one for each of 2 arms"),
        ({"family": "bernuli"}, "family must be one of"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        robai.Sampler(**{"draw": coins, "means": [0.5, 0.2], "support": (0, 1)} | arguments)


def test_a_python_draw_has_no_checkpoint_and_can_be_sent(tmp_path):
    with pytest.raises(ValueError, match="checkpoint must be None, because draw=coins is written in Python"):
        robai.simulate(robai.UCB(), PYTHON, 100, 2, checkpoint=tmp_path)
    assert pickle.loads(pickle.dumps(PYTHON)) == PYTHON
    assert PYTHON.to_dict()["draw"] == "coins"
    result = robai.simulate(robai.UCB(), PYTHON, 100, 5, rng=0)
    assert "coins" in result.summary()
    result.save(tmp_path / "result.npz")
    assert robai.Result.load(tmp_path / "result.npz") == result


# ---- compiled


SOURCE = """
#include <stdint.h>
typedef struct {
    void *state;
    uint64_t (*next_uint64)(void *);
    uint32_t (*next_uint32)(void *);
    double (*next_double)(void *);
    uint64_t (*next_raw)(void *);
} bitgen_t;
static const double means[] = {0.7, 0.2, 0.4};
void coins(int64_t arm, double *out, int64_t size, bitgen_t *bitgen) {
    for (int64_t i = 0; i < size; i++)
        out[i] = bitgen->next_double(bitgen->state) < means[arm];
}
void broken(int64_t arm, double *out, int64_t size, bitgen_t *bitgen) {
    for (int64_t i = 0; i < size; i++)
        out[i] = 0.0 / 0.0;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "coins.c").write_text(SOURCE)
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "coins.c", "-o", "coins.so"], cwd=folder, check=True)
    (folder / "own_coins.py").write_text(
        f"import ctypes\nlibrary = ctypes.CDLL({str(folder / 'coins.so')!r})\ncoins = library.coins\n"
    )
    sys.path.insert(0, str(folder))
    yield ctypes.CDLL(str(folder / "coins.so"))
    sys.path.remove(str(folder))
    sys.modules.pop("own_coins", None)


def test_compiled_draws(library):
    like = robai.Sampler(by_uniforms, MEANS, support=(0, 1))
    built_in = robai.simulate(robai.UCB(), like, 2000, 20, rng=3)
    address = ctypes.cast(library.coins, ctypes.c_void_p).value
    for draw in (library.coins, address, "own_coins:coins", robai.Sampler.ctypes_signature(address)):
        bandit = robai.Sampler(draw, MEANS, support=(0, 1))
        assert (robai.simulate(robai.UCB(), bandit, 2000, 20, rng=3).pulls == built_in.pulls).all()
        bandit.check()
    with pytest.raises(ValueError, match="draw must give rewards from 0 to 1, got nan for arm 0"):
        robai.simulate(robai.UCB(), robai.Sampler(library.broken, MEANS, support=(0, 1)), 10**6, 3)


def test_only_a_named_function_leaves_the_process(library, tmp_path):
    named = robai.Sampler("own_coins:coins", MEANS, support=(0, 1))
    assert robai.Sampler.from_dict(named.to_dict()) == named
    result = robai.simulate(robai.UCB(), named, 500, 70, rng=3, checkpoint=tmp_path / "a")
    assert robai.simulate(robai.UCB(), named, 500, 70, rng=3, checkpoint=tmp_path / "a") == result
    pointer = robai.Sampler(library.coins, MEANS, support=(0, 1))
    with pytest.raises(ValueError, match="is an address of this process"):
        robai.simulate(robai.UCB(), pointer, 500, 70, rng=3, checkpoint=tmp_path / "b")
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert robai.simulate(robai.UCB(), named, 500, 70, rng=3, executor=pool) == result
        with pytest.raises(ValueError, match=r'give it as "package.module:object"'):
            robai.simulate(robai.UCB(), pointer, 500, 70, rng=3, executor=pool)


def test_numba_draws():
    """The words of the state are the generator's: xoshiro256++."""
    numba = pytest.importorskip("numba")

    @numba.cfunc(robai.Sampler.signature)
    def draw(arm, out, size, bitgen):
        s = numba.carray(bitgen[0], 4)
        for i in range(size):
            x = s[0] + s[3]
            bits = ((x << np.uint64(23)) | (x >> np.uint64(41))) + s[0]
            t = s[1] << np.uint64(17)
            s[2] ^= s[0]
            s[3] ^= s[1]
            s[1] ^= s[2]
            s[0] ^= s[3]
            s[2] ^= t
            s[3] = (s[3] << np.uint64(45)) | (s[3] >> np.uint64(19))
            out[i] = 1.0 if (bits >> np.uint64(11)) / 9007199254740992.0 < 0.2 + 0.5 * arm else 0.0

    bandit = robai.Sampler(draw, [0.2, 0.7], support=(0, 1))
    like = robai.Sampler(
        lambda arm, size, rng: rng.random(size) < 0.2 + 0.5 * arm, [0.2, 0.7], support=(0, 1)
    )
    built_in = robai.simulate(robai.UCB(), like, 2000, 20, rng=3)
    assert (robai.simulate(robai.UCB(), bandit, 2000, 20, rng=3).pulls == built_in.pulls).all()


# ---- beta rewards


def rewards(bandit, arm, count=10**5):
    return bandit._core().rewards(arm, bandit.means[arm], count, Stream((1, 2, 3, 4)))


@pytest.mark.parametrize("concentration", [1e-6, 0.01, 0.5, 1.0, 4.0, 1e4, 1e9])
def test_beta_rewards(concentration):
    bandit = robai.Beta([0.7, 0.05], concentration)
    for arm, mean in enumerate(bandit.means):
        drawn = rewards(bandit, arm)
        variance = mean * (1 - mean) / (concentration + 1)
        assert ((drawn >= 0) & (drawn <= 1)).all()
        assert abs(drawn.mean() - mean) < 5 * math.sqrt(variance / drawn.size)
        # The variance of squared deviations is at most that of deviations of size 1.
        error = math.sqrt(((drawn - mean) ** 2).var() / drawn.size)
        assert abs(((drawn - mean) ** 2).mean() - variance) < 5 * error


def test_beta_is_bernoulli_in_the_limit():
    drawn = rewards(robai.Beta([0.3, 0.5], 1e-6), 0)
    assert ((drawn < 1e-6) | (drawn > 1 - 1e-6)).mean() > 0.999
    assert not set(np.unique(rewards(robai.Beta([0.3, 0.5], 4.0), 0))) & {0.0, 1.0}


def test_beta_bandits():
    bandit = robai.Beta([0.7, 0.2], 4)
    assert bandit.family == families.Bounded(0, 1)
    assert bandit.support == (0.0, 1.0)
    assert bandit.proxy == 0.5
    assert robai.Beta.from_dict(bandit.to_dict()) == bandit == pickle.loads(pickle.dumps(bandit))
    assert repr(bandit) == "Beta(means=(0.7, 0.2), concentration=4.0)"
    assert len(repr(robai.Beta([0.5] * 2000, 1.0))) < 100
    result = robai.simulate(robai.KLUCB(), bandit, 2000, 300, rng=0)
    assert result.meta["engine"] == "step"
    assert result.pulls[:, 0].mean() > 1900
    wild = robai.simulate(robai.UCB(), robai.Beta([0.7, 0.2], 1e-6), 2000, 2000, rng=0)
    bernoulli = robai.simulate(robai.UCB(), robai.Bernoulli([0.7, 0.2]), 2000, 2000, rng=1, engine="step")
    error = math.hypot(wild.regret_sem[-1], bernoulli.regret_sem[-1])
    assert abs(wild.regret[-1] - bernoulli.regret[-1]) < 5 * error
    for means, name in (([0.0, 0.5], "0.0"), ([0.5, 1.0], "1.0")):
        with pytest.raises(ValueError, match=f"must be between 0 and 1, got {name}"):
            robai.Beta(means, 1.0)
    with pytest.raises(ValueError, match="concentration must be from 1e-06"):
        robai.Beta([0.5, 0.2], 0)


def test_extreme_beta_rewards_are_numbers():
    for mean in (1e-320, 5e-324, 1e-17, 1 - 1e-16):
        drawn = rewards(robai.Beta([mean, 0.5], 1e-6), 0, 1000)
        assert ((drawn >= 0) & (drawn <= 1)).all()
