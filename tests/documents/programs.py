"""Programs for type checkers, which are read and never run.

`# E: code` says that a line is wrong, and which error mypy must report there; all other lines are right.
"""

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import robai
from robai import families, rules
from robai.policies.base import BasePolicy

# ---- bandits: any sequence of means is taken, a tuple is kept

bandit = robai.Gaussian([0.7, 0.2])
assert_type(bandit.means, tuple[float, ...])
assert_type(bandit.sigma, float | tuple[float, ...])
robai.Gaussian(means=(0.7, 0.2), sigma=2)
robai.Gaussian([0.7, 0.2], sigma=[1.0, 2.0])
robai.Bernoulli(np.array([0.7, 0.2]))
robai.Binomial([7, 2], n=10)
robai.Empirical([[0.0, 1.0], [1.0]])
robai.Gaussian()  # E: call-arg
robai.Gaussian(0.7)  # E: arg-type
robai.Gaussian(["0.7", "0.2"])  # E: list-item
robai.Gaussian([0.7, 0.2], sigm=1.0)  # E: call-arg
robai.Binomial([7, 2])  # E: call-arg
bandit.means = (0.7, 0.2)  # E: misc

# ---- policies: names are checked, families are made of their names

robai.UCB(level="ratio", sigma=0.5)
robai.UCB(sigma=(0.5, 1.0))
robai.UCB(sigma="1")  # E: arg-type
robai.KLUCB(level="++", family="bernoulli")
robai.KLUCB(family=families.Binomial(10))
assert_type(robai.KLUCB(family="bernoulli").family, families.Family | None)
robai.UCB(level="horizn")  # E: arg-type
robai.UCB(level="++")  # E: arg-type
robai.KLUCB(family="bernouli")  # E: arg-type
robai.KLUCB(family="binomial")  # E: arg-type
robai.EOCP()  # E: call-arg
robai.EOCP(gap="0.5")  # E: arg-type
robai.TrackAndStop(tracking="E")  # E: arg-type

# ---- policies of parts

mixed = robai.Policy(explore=robai.KLUCB())
assert_type(mixed.explore, rules.Exploration)
robai.Policy(rules.UpperBound(), stop=rules.Imbalance() & rules.LikelihoodRatio(share=0.5))
robai.Policy(robai.KLUCB(), stop=robai.EOCPUG(), commit=rules.MostPulled())
robai.Policy()  # E: call-arg
robai.Policy(explore="kl-ucb")  # E: arg-type
robai.Policy(rules.UpperBound(), commit=rules.Imbalance())  # E: arg-type
rules.Imbalance() & 1  # E: operator

# ---- simulations


class Greedy:
    def select(self, state: robai.custom.State) -> int | robai.Commit:
        return int(state.means.argmax())

    def update(self, arm: int, reward: float) -> None:
        pass


class Deaf:
    def select(self, state: robai.custom.State) -> int:
        return 0


robai.Policy(Greedy(), stop=rules.Imbalance(), commit=rules.LowerBound())
robai.Policy(Deaf())  # E: arg-type
robai.Policy(rules.Index("rules:index", name="mine", moments=2), rules.Stop("rules:stop", name="mine"))
robai.UCB(level=rules.Level("rules:level", name="mine", grows=True))
robai.KLUCB(level=rules.Level("rules:level", name="mine"))
rules.Level("rules:level")  # E: call-arg
rules.Level("rules:level", name=3)  # E: arg-type
rules.Index("rules:index", "mine")  # E: call-arg
result = robai.simulate(robai.UCB(), bandit, 1e6, 1e3)
assert_type(result.regret, NDArray[np.float64])
assert_type(result.wrong_commit().count, int)
table = robai.compare({"one": robai.UCB(), "other": robai.EOCP(gap=0.5)}, bandit, 1e6, 100, engine="leap")
assert_type(table["one"], robai.Result)
robai.compare([robai.EOCP(gap=0.5), Greedy()], bandit, 1e6, 100, rng=np.random.default_rng(1))
robai.simulate(Greedy(), bandit, 1000, 10, times=[10, 100])
robai.simulat(robai.UCB(), bandit, 1e6, 1e3)  # E: attr-defined
robai.simulate(robai.UCB(), bandit, 1e6, 1e3, engine="setp")  # E: arg-type
robai.simulate(robai.UCB(), [0.7, 0.2], 1e6, 1e3)  # E: arg-type
robai.simulate(robai.UCB, bandit, 1e6, 1e3)  # E: arg-type
robai.simulate(Deaf(), bandit, 1e6, 1e3)  # E: arg-type
robai.simulate(robai.UCB(), bandit, "1e6", 1e3)  # E: arg-type
robai.simulate(robai.UCB(), bandit, 1e6)  # E: call-arg
robai.simulate(robai.UCB(), bandit, 1e6, 1e3, seed=1)  # E: call-arg
result.to_dataframe("curves")  # E: arg-type
one = robai.identify(robai.TrackAndStop(), bandit, delta=0.1, runs=1e3)
assert_type(one, robai.Identification)
assert_type(one.stopping_time, NDArray[np.int64])
assert_type(robai.identify(robai.UCB(), bandit, budget=100, runs=10), robai.Identification)
assert_type(robai.identify(robai.UCB(), bandit, budget=[100, 200], runs=10), robai.Identifications)
assert_type(robai.identify([robai.EOCPUG(), Greedy()], bandit, horizon=1e100, runs=10), robai.Identifications)
robai.identify(robai.UCB(), bandit, budget=100)  # E: call-overload
robai.identify(robai.UCB(), bandit, budget="100", runs=10)  # E: arg-type

# ---- agents: arms are what they are called

agent = robai.Agent(robai.KLEOCPUG(), ["A", "B", "C"], 200_000, reward="bernoulli")
assert_type(agent, robai.Agent[str])
assert_type(agent.select(), str)
assert_type(agent.committed_arm, str | None)
agent.update("A", 1.0)
agent.update(7, 1.0)  # E: arg-type
agent.update("A", "1.0")  # E: arg-type
agent.update_counts(7, n=10, total=3)  # E: arg-type
agent.committed_arm.lower()  # E: union-attr
numbered = robai.Agent(Greedy(), 3, horizon=1e5, reward=families.Binomial(10))
assert_type(numbered.select(), int)
numbered.update(numbered.select(), 7)
numbered.update("A", 1.0)  # E: arg-type
robai.Agent(robai.UCB(), 3, 1000)  # E: call-arg
robai.Agent(robai.UCB(), 3, 1000, reward="bernouli")  # E: arg-type

# ---- theory and divergences

assert_type(robai.theory.lai_robbins(bandit), float)
assert_type(robai.theory.lai_robbins([0.7, 0.2], family="bernoulli"), float)
assert_type(robai.kl.divergence("bernoulli", 0.2, 0.7), float)
assert_type(robai.kl.divergence("bernoulli", np.linspace(0.2, 0.5, 4), 0.7), NDArray[np.float64])
robai.kl.divergence("bernouli", 0.2, 0.7)  # E: call-overload

# ---- specifications come back as what they were


def again(policy: BasePolicy) -> BasePolicy:
    return BasePolicy.from_dict(policy.to_dict())


assert_type(robai.UCB.from_dict(robai.UCB().to_dict()), robai.UCB)
