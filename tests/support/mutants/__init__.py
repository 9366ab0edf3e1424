"""Lines that compute a number shown to people, what to break in them, and the test file that must notice."""

from support.mutants import computed, results, shown
from support.mutants.mutant import Mutant

__all__ = ["MUTANTS", "Mutant"]

MUTANTS = [*results.MUTANTS, *shown.MUTANTS, *computed.MUTANTS]
