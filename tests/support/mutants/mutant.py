"""What a mutant is."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """A change to the package that a test file must notice; `file` and `test` are below robai and tests."""

    about: str
    file: str
    old: str
    new: str
    test: str


def mutants(file: str, test: str, *changes: tuple[str, str, str]) -> list[Mutant]:
    return [Mutant(about, file, old, new, test) for about, old, new in changes]
