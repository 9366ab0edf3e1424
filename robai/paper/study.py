"""A publication as data: what it played, what it says of that, and what is known of differences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from robai.paper.claims import Claim
from robai.paper.experiments import Experiment, RegretExperiment
from robai.theory import Asymptotics


@dataclass(frozen=True)
class Growing:
    """Experiments over several horizons: how regret and commitment grow, beside what is stated of them."""

    name: str
    title: str
    experiments: Mapping[str, RegretExperiment]
    stated: Mapping[str, Asymptotics]  # by policy
    drawn: tuple[str, ...]  # the experiments of the figure, in the order of their colours
    note: str  # below the table
    caption: str  # below the figure


@dataclass(frozen=True)
class Varying:
    """Experiments whose policies differ in one parameter, a curve each."""

    name: str
    title: str
    experiments: Mapping[str, RegretExperiment]
    parameter: str
    values: tuple[float, ...]
    reference: tuple[str, str]  # experiment and policy of a level line
    caption: str


@dataclass(frozen=True)
class Study:
    """A publication.

    Attributes
    ----------
    name : what it is called on the command line
    title : of the page
    source : where it is published
    figures : its experiments, by name
    claims : what it says of them
    about : what must be known to read the numbers
    notes : where numbers differ, or are not certain, and why
    growing, varying : sections of more experiments, if there are any
    """

    name: str
    title: str
    source: str
    figures: Mapping[str, Experiment]
    claims: Sequence[Claim]
    about: str
    notes: Mapping[str, str] = field(default_factory=dict)
    growing: Growing | None = None
    varying: Varying | None = None

    @property
    def labels(self) -> list[str]:
        """Of all policies, in the order of their colours."""
        played = (each for experiments in self.sections.values() for each in experiments.values())
        return list(dict.fromkeys(label for each in played for label in each.policies))

    @property
    def sections(self) -> dict[str, Mapping[str, Experiment]]:
        """What `reproduce(only=)` can choose from, and what is played for it."""
        more = (each for each in (self.growing, self.varying) if each is not None)
        return {
            **{name: {name: experiment} for name, experiment in self.figures.items()},
            **{each.name: each.experiments for each in more},
        }
