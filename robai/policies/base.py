"""What all policies have, and `Policy`, any combination of three rules."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from robai import rules
from robai._base.spec import Field, Kind, Spec, parameter, spec
from robai._core.protocols import Started
from robai.rules.python import PythonExploration, PythonPolicy, has_its_methods


class Parts(NamedTuple):
    """The answers of a policy to the three questions: how to explore, when to stop, what to commit to.

    Attributes
    ----------
    explore : rules.Exploration
        How to explore.
    stop : rules.Stopping
        When to stop.
    commit : rules.Commitment
        Which arm to commit to.

    Examples
    --------
    >>> import robai
    >>> robai.BAIETC(sigma=0.5).parts()
    Parts(explore=RoundRobin(), stop=MeanGap(sigma=0.5), commit=LargestMean())
    """

    explore: rules.Exploration
    stop: rules.Stopping
    commit: rules.Commitment


class BasePolicy(Spec):
    """What all policies have.

    Examples
    --------
    >>> import robai
    >>> isinstance(robai.EOCPUG(), BasePolicy)
    True
    >>> BasePolicy.from_dict({"type": "EOCP", "gap": 0.5})
    EOCP(gap=0.5, inflation=1.0, sigma=None)
    """

    named: ClassVar[bool] = True  # in messages, in place of its rules

    def parts(self) -> Parts:
        """The exploration, stopping and commitment rules of this policy.

        Returns
        -------
        Parts

        Examples
        --------
        >>> import robai
        >>> explore, stop, commit = robai.EOCPUG().parts()
        >>> stop
        Imbalance(inflation=1.0)
        """
        raise NotImplementedError

    @cached_property
    def _parts(self) -> Parts:
        return self.parts()

    def start(self, game: rules.Game) -> Started:
        """The compiled rules, for a game: what engines and agents play.

        Parameters
        ----------
        game : rules.Game
            The number of arms, the horizon and what the rewards are.

        Returns
        -------
        Started
            Its `explore`, `stop` and `commit`, and `initial_pulls`, how often every arm is pulled first.

        Examples
        --------
        >>> import robai
        >>> game = robai.rules.Game.of(2, 1000, robai.families.Gaussian())
        >>> robai.ThompsonSampling().start(game).initial_pulls
        4
        """
        parts, game = self._parts, replace(game, policy=self)
        explore, stop = parts.explore.start(game), parts.stop.start(game)
        initial_pulls = max(explore.initial_pulls, stop.initial_pulls)
        return Started(explore, stop, parts.commit.start(game, explore), initial_pulls)


def _part(kind: type, question: str) -> Kind:
    """A rule of the kind, or a policy, whose own rule is taken."""

    def check(name: str, value: Any) -> Any:
        rule = getattr(value.parts(), name) if isinstance(value, BasePolicy) else value
        if kind is rules.Exploration and has_its_methods(rule):
            return PythonExploration(rule)
        if not isinstance(rule, kind):
            raise TypeError(
                f"{name} must be {question} of robai.rules, or a policy that has one, got {value!r}"
            )
        return rule

    return Kind(check, question)


@spec
class Policy(BasePolicy):
    """Any combination of the parts.

    A part is a rule of `robai.rules`, or a policy, of which the same part is taken.

    Parameters
    ----------
    explore : rules.Exploration, policy, or object with `select(state)` and `update(arm, reward)`
        How to explore; an object of your own is played by `robai.custom`.
    stop : rules.Stopping or policy, default Never()
        When to stop; rules combine with `&` and ``|``.
    commit : rules.Commitment or policy, default LargestMean()
        Which arm to commit to.

    Examples
    --------
    >>> import robai
    >>> mine = robai.Policy(explore=robai.KLUCB(), stop=robai.EOCPUG(), commit=robai.rules.MostPulled())
    >>> played = robai.simulate(mine, robai.Bernoulli([0.9, 0.6]), 10**5, 100, rng=0)
    >>> played.digest().commit_median, played.wrong_commit().count
    (113.0, 1)
    """

    named: ClassVar[bool] = False
    explore: Field[rules.Exploration | BasePolicy | PythonPolicy, rules.Exploration] = parameter(
        _part(rules.Exploration, "an exploration rule")
    )
    stop: Field[rules.Stopping | BasePolicy, rules.Stopping] = parameter(
        _part(rules.Stopping, "a stopping rule"), default=rules.Never()
    )
    commit: Field[rules.Commitment | BasePolicy, rules.Commitment] = parameter(
        _part(rules.Commitment, "a commitment rule"), default=rules.LargestMean()
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.commit, rules.Recommended):
            return
        if self.stop != rules.Never():
            raise ValueError(
                f"commit=Recommended() needs stop=Never(), as the exploration says itself when it is over, "
                f"got stop={self.stop!r}"
            )
        if not isinstance(self.explore, rules.STAGED):
            raise ValueError(
                f"commit=Recommended() needs an exploration in stages, got explore={self.explore!r}"
            )

    def parts(self) -> Parts:
        return Parts(self.explore, self.stop, self.commit)
