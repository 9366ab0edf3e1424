"""The same games played by other packages: what bench/peers.py times.

A peer is a function that imports its package and returns games. A game is the policy of robai that has the
same law, its rewards, and `play(means, horizon, runs, seed)`, which returns the final regret of every run.
Numba and JAX have no bandits: theirs are the loops that a researcher writes. `PEERS` says what a package has
and is left out, because it is another policy.
"""

import contextlib
import functools
import io
import random
from collections.abc import Callable
from dataclasses import dataclass

import baselines
import numpy as np

import robai
from robai.policies.base import BasePolicy

# The level log t of the others is that of the round before, or of this one, as robai's: 1/t apart.
UCB1 = robai.UCB("round", sigma=1.0)
UNIFORM = robai.ThompsonSampling(prior="uniform")


@dataclass(frozen=True)
class Game:
    """What is played, and by which call."""

    policy: BasePolicy
    rewards: type[robai.Gaussian] | type[robai.Bernoulli]
    play: Callable[[list[float], int, int, int], np.ndarray]


def regret_of(pulls, means):
    return np.asarray(pulls, dtype=float) @ (max(means) - np.array(means))


# ------------------------------------------------------------------------------------ numba


def numba():
    import numba  # noqa: F401 - what baselines compiles with

    def game(policy, rewards, loop):
        return Game(policy, rewards, functools.partial(baselines.regret, "numba", loop))

    return [
        game(robai.UCB(), robai.Gaussian, "ucb"),
        game(robai.KLUCB(), robai.Bernoulli, "kl-ucb"),
        game(robai.ThompsonSampling(), robai.Gaussian, "thompson-gaussian"),
        game(robai.ThompsonSampling(), robai.Bernoulli, "thompson-bernoulli"),
    ]


# -------------------------------------------------------------------------------------- JAX
# All runs at once, arms x runs, one round after the other, in single precision, which is its default.


def jax():
    import jax
    import jax.numpy as jnp

    normal = jax.random.normal

    def gaussian(key, means, arm):
        return means[arm] + normal(key, arm.shape)

    def bernoulli(key, means, arm):
        return (jax.random.uniform(key, arm.shape) < means[arm]).astype(jnp.float32)

    def of_each(reward, key, means, runs):
        return reward(key, means, jnp.broadcast_to(jnp.arange(len(means))[:, None], (len(means), runs)))

    def pull(reward, key, means, arm, pulls, sums):
        pulled = jnp.arange(len(means))[:, None] == arm
        return pulled, pulls + pulled, sums + jnp.where(pulled, reward(key, means, arm), 0.0)

    def by_index(reward, index):
        """Only the index of the arm just pulled is computed again."""

        def start(key, means, level, runs):
            sums = of_each(reward, key, means, runs)
            return jnp.ones_like(sums), sums, index(sums, 1.0, level)

        def step(key, means, level, state):
            arm = state[2].argmax(axis=0)
            pulled, pulls, sums = pull(reward, key, means, arm, *state[:2])
            n, total = (jnp.take_along_axis(each, arm[None], 0)[0] for each in (pulls, sums))
            return pulls, sums, jnp.where(pulled, index(total / n, n, level), state[2])

        return 1, start, step

    def by_draws(reward, draw, pulls_first):
        """The largest draw from a posterior; every arm is pulled once first, or none."""

        def start(key, means, level, runs):
            if pulls_first:
                sums = of_each(reward, key, means, runs)
                return jnp.ones_like(sums), sums
            return (jnp.zeros((len(means), runs)),) * 2

        def step(key, means, level, state):
            for_draws, for_reward = jax.random.split(key)
            arm = draw(for_draws, *state).argmax(axis=0)
            return pull(reward, for_reward, means, arm, *state)[1:]

        return pulls_first, start, step

    def kl_index(mean, n, level):
        p = jnp.clip(mean, 1e-7, 1.0 - 1e-7)
        entropy = p * jnp.log(p) + (1.0 - p) * jnp.log1p(-p)

        def halve(_, ends):
            low, high = ends
            middle = 0.5 * (low + high)
            far = entropy - p * jnp.log(middle) - (1.0 - p) * jnp.log1p(-middle) > level / n
            return jnp.where(far, low, middle), jnp.where(far, middle, high)

        return jax.lax.fori_loop(0, 20, halve, (mean, jnp.ones_like(mean)))[0]

    def game(policy, rewards, first, start, step):
        @functools.partial(jax.jit, static_argnums=3)
        def run(key, means, rounds, runs, level):
            def body(t, state):
                return step(jax.random.fold_in(key, t), means, level, state)

            state = start(jax.random.fold_in(key, rounds), means, level, runs)
            return jax.lax.fori_loop(first * len(means), rounds, body, state)[0]

        def play(means, horizon, runs, seed):
            pulls = run(jax.random.key(seed), jnp.array(means), horizon, runs, np.log(horizon))
            return regret_of(np.asarray(pulls).T, means)

        return Game(policy, rewards, play)

    def ucb_index(mean, n, level):
        return mean + jnp.sqrt(2.0 * level / n)

    def normal_draw(key, n, sums):
        return sums / n + normal(key, n.shape) / jnp.sqrt(n)

    def beta_draw(key, n, sums):
        return jax.random.beta(key, 0.5 + sums, 0.5 + n - sums)

    return [
        game(robai.UCB(), robai.Gaussian, *by_index(gaussian, ucb_index)),
        game(robai.KLUCB(), robai.Bernoulli, *by_index(bernoulli, kl_index)),
        game(robai.ThompsonSampling(), robai.Gaussian, *by_draws(gaussian, normal_draw, 1)),
        game(robai.ThompsonSampling(), robai.Bernoulli, *by_draws(bernoulli, beta_draw, 0)),
    ]


# ------------------------------------------------------------------------------------ pymab


def pymab():
    from pymab import BanditEnvironment, Experiment, ExperimentConfig, policies
    from pymab.distributions import BernoulliReward, GaussianReward

    def game(ours, rewards, model, theirs, **parameters):
        def play(means, horizon, runs, seed):
            experiment = Experiment(
                environment=BanditEnvironment(means=np.array(means), reward_model=model()),
                policies={"it": theirs(n_arms=len(means), **parameters)},
                config=ExperimentConfig(horizon=horizon, n_replicates=runs, seed=seed, backend="rust"),
            )
            actions = experiment.run().actions[:, :, 0]
            return (max(means) - np.array(means))[actions].sum(axis=1)

        return Game(ours, rewards, play)

    # A prior that is all but flat, and so high that every arm is pulled once before any is pulled again.
    flat = {"prior_mean": 1e7, "prior_precision": 1e-12}
    return [
        game(UCB1, robai.Gaussian, GaussianReward, policies.UCBPolicy, c=2.0),
        game(robai.KLUCB("loglog"), robai.Bernoulli, BernoulliReward, policies.KLUCBPolicy, c=3.0),
        game(
            robai.ThompsonSampling(), robai.Gaussian, GaussianReward,
            policies.GaussianThompsonSamplingPolicy, **flat,
        ),
        game(UNIFORM, robai.Bernoulli, BernoulliReward, policies.BernoulliThompsonSamplingPolicy),
    ]  # fmt: skip


# ----------------------------------------------- services: the loop is what a user writes


def _asked(policy, rewards, first):
    """A game of what is asked for an arm, and told its reward, round after round.

    `first(means, seed, reward)` returns the two functions, and the pulls that it has made already.
    """

    def play(means, horizon, runs, seed):
        rng = random.Random(seed)
        if rewards is robai.Gaussian:

            def reward(arm):
                return rng.gauss(means[arm], 1.0)
        else:

            def reward(arm):
                return int(rng.random() < means[arm])

        regrets = []
        for _ in range(runs):
            select, update, pulls = first(len(means), rng.getrandbits(31), reward)
            for _ in range(horizon - sum(pulls)):
                arm = select()
                update(arm, reward(arm))
                pulls[arm] += 1
            regrets.append(regret_of(pulls, means))
        return np.array(regrets)

    return Game(policy, rewards, play)


def mabwiser():
    from mabwiser.mab import MAB, LearningPolicy

    def service(policy, every):
        """It has to be fitted first: with a pull of every arm, or of any one, as a uniform prior does."""

        def first(n_arms, seed, reward):
            arms = list(range(n_arms))
            model = MAB(arms, policy, seed=seed)
            pulled = arms if every else [seed % n_arms]
            model.fit(decisions=pulled, rewards=[reward(arm) for arm in pulled])
            pulls = [pulled.count(arm) for arm in arms]
            return model.predict, lambda arm, reward: model.partial_fit([arm], [reward]), pulls

        return first

    return [
        _asked(UCB1, robai.Gaussian, service(LearningPolicy.UCB1(alpha=1.0), every=True)),
        _asked(UNIFORM, robai.Bernoulli, service(LearningPolicy.ThompsonSampling(), every=False)),
    ]


def river():
    from river import bandit, proba

    def service(policy):
        def first(n_arms, seed, reward):
            model, arms = policy(seed), range(n_arms)
            return lambda: model.pull(arms), model.update, [0] * n_arms

        return first

    return [
        _asked(UCB1, robai.Gaussian, service(lambda seed: bandit.UCB(delta=1.0, seed=seed))),
        _asked(
            UNIFORM,
            robai.Bernoulli,
            service(lambda seed: bandit.ThompsonSampling(reward_obj=proba.Beta(1, 1), seed=seed)),
        ),
    ]


# ------------------------------------------------------------------------------ SMPyBandits


def smpybandits():
    silent = io.StringIO()
    with contextlib.redirect_stdout(silent):  # it prints a lot
        from SMPyBandits.Arms import Bernoulli, UnboundedGaussian
        from SMPyBandits.Environment import Evaluator
        from SMPyBandits.Policies import UCB, Thompson, klUCB

    def game(ours, rewards, theirs, arms):
        def play(means, horizon, runs, seed):
            random.seed(seed)  # it draws from both global generators
            np.random.seed(seed)  # noqa: NPY002
            policy = {"archtype": theirs, "params": {}}  # codespell:ignore archtype
            configuration = {
                "horizon": horizon, "repetitions": runs, "n_jobs": 1, "verbosity": 0,
                "environment": [arms(means)], "policies": [policy],
            }  # fmt: skip
            with contextlib.redirect_stdout(silent):
                evaluator = Evaluator(configuration)
                evaluator.startAllEnv()
            silent.truncate(silent.seek(0))
            return regret_of(evaluator.lastPulls[0][0].T, means)

        return Game(ours, rewards, play)

    def gaussian(means):
        return [UnboundedGaussian(mean, 1.0) for mean in means]

    def bernoulli(means):
        return {"arm_type": Bernoulli, "params": means}

    return [
        game(UCB1, robai.Gaussian, UCB, gaussian),
        game(robai.KLUCB("round"), robai.Bernoulli, klUCB, bernoulli),
        game(UNIFORM, robai.Bernoulli, Thompson, bernoulli),
    ]


@dataclass(frozen=True)
class Peer:
    """A package, the games that it can play, and how many runs of them can be waited for."""

    distribution: str
    start: Callable[[], list[Game]]
    check_runs: int = 0
    together: int | None = None  # runs that it plays at once, always so many: it compiles for a number
    left_out: str = ""


PEERS = [
    Peer("numba", numba, check_runs=2000),
    Peer("jax", jax, together=1000),
    Peer("pymab", pymab, check_runs=1000),
    Peer(
        "river", river, check_runs=300,
        left_out="Thompson sampling on Gaussian rewards draws a reward, not a mean; there is no KL-UCB",
    ),
    Peer(
        "SMPyBandits", smpybandits, check_runs=200,
        left_out="Thompson sampling on Gaussian rewards takes 1/N for the standard deviation",
    ),
    Peer(
        "mabwiser", mabwiser, check_runs=100,
        left_out="Thompson sampling is for Bernoulli rewards alone; there is no KL-UCB",
    ),
]  # fmt: skip
