"""The protocols of policies.pxd: what a rule does unless it says otherwise."""

from robai._core.rng cimport next_below


cdef Py_ssize_t argmax(const double* values, Py_ssize_t count, Rng* rng) noexcept nogil:
    cdef Py_ssize_t i, best = 0, ties = 1, chosen
    for i in range(1, count):
        if values[i] > values[best]:
            best, ties = i, 1
        elif values[i] == values[best]:
            ties += 1
    if ties == 1:
        return best
    chosen = next_below(rng, ties)
    for i in range(best, count):
        if values[i] == values[best]:
            if chosen == 0:
                return i
            chosen -= 1
    return best


cdef class Exploration:
    def __cinit__(self, *args, **kwargs):
        self.initial_pulls = 1

    cdef void restart(self) noexcept nogil:
        pass

    cdef bint prepare(self, const Arms* arms) noexcept nogil:
        return True

    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil:
        return -1

    cdef Py_ssize_t recommend(self, const Arms* arms, Rng* rng) noexcept nogil:
        return -1

    def memory(self):
        """What it keeps from one `select` to the next: numbers and lists of numbers, by name."""
        return {}

    def remember(self, memory, pulls):
        """Go on from a `memory` at these numbers of pulls; ValueError if there can be no such memory."""
        expect_fields(memory, ())


def expect_fields(memory, names):
    """A ValueError unless the names of a memory are these."""
    if set(memory) != set(names):
        raise ValueError(f"must have the fields {sorted(names)}, got {sorted(memory)}")


cdef class Stopping:
    cdef bint fires(self, const Arms* arms) noexcept nogil:
        return False

    cdef int64_t quiet(self, const Arms* arms, Py_ssize_t arm) noexcept nogil:
        return 1


cdef class Commitment:
    cdef Py_ssize_t choose(self, const Arms* arms, Rng* rng) noexcept nogil:
        return -1
