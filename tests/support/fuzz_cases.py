"""Random policies on random bandits, extremes included, and the code that plays one of them again."""

from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from typing import get_args

import numpy as np
from support import fuzz_functions

import robai
from robai import families, priors, rules
from robai._base.pointers import Pointer
from robai.bandits import BANDITS, Bandit
from robai.policies import POLICIES, BasePolicy
from robai.rules.game import MOST_ROUNDS
from robai.rules.parameters import AnyBounds, Challenger, Leader, LevelName, Test, UniformStop
from robai.rules.threshold import SeparationThreshold, Threshold

LONGEST_STEPPED = 10**4
EXTREMES = (5e-324, 1e-300, 1e-100, 1e-16, 1e-3, 1e-2, 1e9, 1e15, 1e16, 1e100, 1e280, 1.7e308)
EXTREME_MEANS = (0.0, 5e-324, 1e-300, 1e-9, 0.5, 1.0 - 2.0**-53, 1.0, 50.0, 1e9, families.LARGEST_MEAN)


def kinds(base):
    """The rules of `robai.rules` that answer one question, without objects of the user's."""
    found = [kind for kind in vars(rules).values() if isinstance(kind, type) and issubclass(kind, base)]
    made = [kind for kind in found if "__dataclass_fields__" in vars(kind)]
    return [
        kind
        for kind in made
        if kind in FUNCTIONS or {each.name for each in fields(kind)} <= PARAMETERS.keys()
    ]


@dataclass(frozen=True)
class Case:
    """What is played."""

    policy: BasePolicy
    bandit: Bandit
    horizon: int
    rng: int

    @property
    def engines(self) -> tuple[str, ...]:
        if self.comparable:
            return ("step", "leap")
        return ("leap",) if self.leaps else ("step",)

    @property
    def runs(self) -> int:
        """As many as are played in about a tenth of a second."""
        work = self.horizon * (1.0 + 0.1 * self.bandit.n_arms)
        if "fuzz_functions" in repr(self.policy):  # which are of Python
            work *= 30.0
        if self.comparable:
            return int(np.clip(2e6 / work, 100, 4000))
        return 20 if self.leaps else int(np.clip(1e5 / work, 2, 20))

    @property
    def leaps(self) -> bool:
        """Does the leap engine apply?"""
        bandit = self.bandit
        try:
            started = self.policy.start(rules.Game.of(bandit.n_arms, self.horizon, bandit))
        except ValueError:  # it does not fit the bandit
            return False
        return started.explore.leaps and started.stop.leaps and bandit.family is not None

    @property
    def comparable(self) -> bool:
        """Can both engines play it, and do the sums of the step engine keep the noise of the rewards?

        The leap engine keeps Gaussian sums as deviations, in which nothing is lost. Counts have a
        standard deviation of at least the square root of their mean: that is kept anyway.
        """
        if not self.leaps or self.horizon > LONGEST_STEPPED:
            return False
        family, means = self.bandit.family, 1.0
        if not isinstance(self.bandit, robai.Instances):
            means = self.bandit.means
        elif isinstance(self.bandit.prior, priors.Given):
            means = self.bandit.prior.means
        largest = np.abs(means).max()
        if isinstance(family, families.Gaussian):
            noise = np.min(family.sigma)
        elif isinstance(family, families.Gamma):
            noise = largest / family.shape**0.5
        else:
            return True
        return largest * self.horizon * 2.0**-52 <= 0.01 * noise


def random_case(seed: int, number: int) -> Case:
    """The case of that number. What is refused when it is made is drawn again."""
    rng = np.random.default_rng([seed, number])
    n_arms = pick(rng, 2, 2, 2, 3, 4, 7, 20, 100, 1000)
    policy = random_policy(rng)
    bandit = random_bandit(rng, n_arms)
    case = Case(policy, bandit, random_horizon(rng, n_arms, LONGEST_STEPPED), int(rng.integers(2**32)))
    if case.leaps and rng.random() < 0.2:
        return replace(case, horizon=random_horizon(rng, LONGEST_STEPPED, 10**18))
    return case


# ---- numbers


def pick(rng, *choices):
    return choices[rng.integers(len(choices))]


def positive(rng):
    usual = float(10.0 ** rng.uniform(-2.0, 2.0))
    return pick(rng, usual, usual, pick(rng, *EXTREMES), float(10.0 ** rng.uniform(-320.0, 308.0)))


def count(rng, low, high):
    """Whole numbers of all sizes, both ends included."""
    return min(max(round(np.exp(rng.uniform(np.log(low), np.log(high)))), low), high)


def random_horizon(rng, low, high):
    return pick(rng, low, low + 1) if rng.random() < 0.1 else count(rng, low, high)


# ---- policies


def random_policy(rng):
    if rng.random() < 0.5:
        return filled(rng, pick(rng, *POLICIES.values()))
    while True:
        kinds = pick(rng, *EXPLORATIONS, *BY_INDEX), pick(rng, *STOPPINGS), pick(rng, *COMMITMENTS)
        if kinds[2] is rules.Recommended:
            kinds = pick(rng, *rules.STAGED), rules.Never, rules.Recommended
        try:
            return robai.Policy(*(filled(rng, kind) for kind in kinds))
        except ValueError:  # rules that do not go together
            continue


def filled(rng, kind):
    """A specification with random parameters; those with a default often have it."""
    if kind in FUNCTIONS:
        return pick(rng, *FUNCTIONS[kind])
    while True:
        arguments = {
            each.name: PARAMETERS[each.name](rng)
            for each in fields(kind)
            if each.default is MISSING or rng.random() < 0.5
        }
        try:
            return kind(**arguments)
        except ValueError:
            continue
        except Exception as error:
            error.add_note(f"{kind.__name__}(**{arguments})")
            raise


def random_family(rng):
    return filled(rng, pick(rng, *families.FAMILIES.values()))


def random_stopping(rng):
    return filled(rng, pick(rng, *STOPPINGS))


FUNCTIONS = {rules.Index: fuzz_functions.INDICES, rules.Stop: fuzz_functions.STOPS}

PARAMETERS = {
    "beta": lambda rng: float(rng.uniform(0.001, 0.999)),
    "bounds": lambda rng: pick(rng, *get_args(AnyBounds)),
    "c": lambda rng: pick(rng, 0.0, 5.0, 100.0 * float(rng.random())),
    "challenger": lambda rng: pick(rng, *get_args(Challenger)),
    "constant": lambda rng: pick(rng, "audibert", "maurer-pontil"),
    "zeta": positive,
    "alpha": lambda rng: 1.0 + positive(rng),
    "anytime": lambda rng: pick(rng, False, True),
    "delta": lambda rng: pick(rng, None, float(rng.random()), 5e-324, 1e-300, 1e-9, 0.5, 1.0 - 2.0**-53),
    "exponent": lambda rng: pick(rng, 0.0, float(rng.random()), 1.0),
    "factor": positive,
    "family": random_family,
    "first": random_stopping,
    "fresh": lambda rng: pick(rng, False, True),
    "gap": positive,
    "guard": positive,
    "heuristic": lambda rng: pick(rng, False, True),
    "inflation": lambda rng: pick(rng, 0.0, positive(rng)),
    "kl": positive,
    "leader": lambda rng: pick(rng, *get_args(Leader)),
    "level": lambda rng: pick(rng, *get_args(LevelName), *fuzz_functions.LEVELS),
    "n": lambda rng: count(rng, 1, 10**6),
    "r": positive,
    "prior": lambda rng: pick(rng, "jeffreys", "uniform"),
    "radius": lambda rng: pick(rng, "paper", "even-dar"),
    "round": lambda rng: count(rng, 1, MOST_ROUNDS),
    "second": random_stopping,
    "shape": positive,
    "stop": lambda rng: pick(rng, *get_args(UniformStop)),
    "share": lambda rng: pick(rng, None, positive(rng)),
    "low": lambda rng: pick(rng, 0.0, -positive(rng)),
    "high": lambda rng: pick(rng, 1.0, positive(rng)),
    "sigma": lambda rng: pick(rng, None, positive(rng)),
    "test": lambda rng: pick(rng, *get_args(Test)),
    "threshold": lambda rng: pick(rng, *get_args(Threshold), *get_args(SeparationThreshold)),
    "variance": lambda rng: pick(rng, *get_args(families.Variance)),
    "tracking": lambda rng: pick(rng, "C", "D"),
}


EXPLORATIONS, STOPPINGS, COMMITMENTS = map(kinds, (rules.Exploration, rules.Stopping, rules.Commitment))
BY_INDEX = [kind for kind in EXPLORATIONS if issubclass(kind, rules.Optimism)]


# ---- bandits


def random_bandit(rng, n_arms):
    if rng.random() < 0.05:
        return robai.Empirical([random_means(rng, families.Gaussian(1.0), 5) for _ in range(n_arms)])
    kind = BANDITS[pick(rng, *BANDITS, *3 * ("gaussian",))]  # which has an engine of its own
    family = filled(rng, kind.Family)
    names = [each.name for each in fields(kind) if each.name != "means"]
    parameters = {name: getattr(family, name) for name in names}
    if parameters.get("sigma", 1.0) is None:
        parameters["sigma"] = float(10.0 ** rng.uniform(-9.0, 9.0))
    if rng.random() < 0.2:
        return robai.Instances(type(family)(**parameters), random_prior(rng, family, n_arms), n_arms)
    return kind(means=random_means(rng, family, n_arms), **parameters)


def random_prior(rng, family, n_arms):
    """Means that are drawn, or given with all that means of one bandit can be."""
    if rng.random() < 0.5:
        return priors.Given([random_means(rng, family, n_arms) for _ in range(rng.integers(1, 6))])
    return pick(rng, priors.Uniform(0.0, 1.0), priors.Beta(2.0, 2.0), priors.Gaps(0.9, 0.2, 0.1))


def random_means(rng, family, n_arms):
    """Means that are far apart, of two values, close to each other, or at the ends of their domain."""
    shape = pick(rng, "spread", "tied", "close", "extreme")
    if shape == "spread":
        return tuple(random_mean(rng, family) for _ in range(n_arms))
    if shape == "close":
        distances = rng.permutation(n_arms) / n_arms * 10.0 ** rng.uniform(-16.0, -1.0)
        return tuple((random_mean(rng, family) * (1.0 - distances)).tolist())
    if shape == "tied":
        values = [random_mean(rng, family), random_mean(rng, family)]
    else:
        values = [mean for mean in EXTREME_MEANS if allowed(family, mean)]
        values += [-mean for mean in values if allowed(family, -mean)]
    return tuple(pick(rng, *values) for _ in range(n_arms))


def random_mean(rng, family):
    low, high = family.support
    if np.isfinite(high):
        return float(rng.uniform(low, high))
    sign = pick(rng, 1.0, -1.0) if low < 0.0 else 1.0
    return sign * float(10.0 ** rng.uniform(-2.0, 1.0))


def allowed(family, mean):
    try:
        family.check_mean("mean", mean)
    except ValueError:
        return False
    return True


# ---- the code of a case


def code(value) -> str:
    """Python code that makes a policy, a rule, a family, a bandit or a plain value again."""
    if isinstance(value, tuple):
        return f"({', '.join(map(code, value))},)"
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    if not is_dataclass(value) or isinstance(value, Pointer):
        return repr(value)
    name = type(value).__name__
    homes = {"robai.rules": rules, "robai.families": families, "robai.priors": priors, "robai": robai}
    home = next(home for home, module in homes.items() if getattr(module, name, None) is type(value))
    arguments = ", ".join(f"{each.name}={code(getattr(value, each.name))}" for each in fields(value))
    return f"{home}.{name}({arguments})"


def reproduction(case: Case, runs: int, rng: int) -> str:
    """A script that plays a case and prints what came of it."""
    seeds = tuple((engine, rng + place) for place, engine in enumerate(case.engines))
    return f"""import numpy as np
import robai
import robai.priors

policy = {code(case.policy)}
bandit = {code(case.bandit)}
for engine, seed in {seeds}:
    result = robai.simulate(
        policy, bandit, {case.horizon}, {runs}, rng=seed, times=20, engine=engine, workers=1)
    print(engine, np.quantile(result.final_regret, [0.1, 0.5, 0.9]), result.final_regret.mean())
    print(np.quantile(result.commit_time, [0.1, 0.5, 0.9]), result.pulls.mean(axis=0)[:10])
"""
