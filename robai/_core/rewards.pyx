"""The rewards of rewards.pxd."""

cimport cython
from libc.float cimport DBL_MAX
from libc.math cimport isfinite
from libc.stdint cimport int64_t


@cython.final
cdef class Rewards:
    """From `low` to `high`, which may be infinite; integers only if `whole`."""

    def __init__(self, double low, double high, bint whole):
        self.low, self.high, self.whole = max(low, -DBL_MAX), min(high, DBL_MAX), whole

    cdef bint possible(self, double count, double total) noexcept nogil:
        if not isfinite(total) or not count * self.low <= total <= count * self.high:
            return False
        # Beyond 2^53 every double is an integer.
        return not self.whole or not -9e15 < total < 9e15 or total == <double><int64_t>total

    def __str__(self):
        kind = "an integer" if self.whole else "a finite number"
        if self.low == -DBL_MAX:
            return kind
        if self.high == DBL_MAX:
            return f"{kind}, at least {self.low:g}"
        return f"{kind} from {self.low:g} to {self.high:g}"
