"""Sums of numbers and of their squares, without rounding: neither the order nor the parts matter.

A double is a whole number of units of 2^-1074, and its square of 2^-2148. Sums of these whole numbers are
kept in digits of 18 bits, the lowest first. Three of them hold a significand, so that products of two have
room in 64 bits for many additions before a carry.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

cdef enum:
    BITS = 18
    ROWS = 256   # between two carries; a row adds less than 2^54 to a digit
    SUM = 120    # digits: 2098 bits of the largest double, and 62 for the number of rows
    SQUARE = 237

DIGIT_BITS = BITS
SUM_DIGITS = SUM
SQUARE_DIGITS = SQUARE


cdef void carry_from(int64_t* digits, Py_ssize_t first, Py_ssize_t last, Py_ssize_t count) noexcept nogil:
    """Make digits first, ..., last smaller than 2^18 again, and whatever that adds to."""
    cdef Py_ssize_t i = first
    cdef int64_t over = 0
    while i < count and (i <= last or over):
        over += digits[i]
        digits[i] = over & ((1 << BITS) - 1)
        over >>= BITS
        i += 1


def carry(int64_t[:, ::1] digits not None):
    """Make all digits of each row smaller than 2^18 again, after an addition."""
    cdef Py_ssize_t row
    with nogil:
        for row in range(digits.shape[0]):
            carry_from(&digits[row, 0], 0, digits.shape[1] - 1, digits.shape[1])


def add_exactly(const double[:, ::1] rows not None, int64_t[:, ::1] sums not None,
                int64_t[:, ::1] squares not None):
    """Add the columns of `rows`, finite and at least 0, to `sums`, and their squares to `squares`."""
    cdef Py_ssize_t first = 0, j, columns = rows.shape[1]
    if sums.shape[0] != columns or squares.shape[0] != columns:
        raise ValueError(f"rows must have a column for each of {sums.shape[0]} sums, got {columns}")
    if sums.shape[1] != SUM or squares.shape[1] != SQUARE:
        raise ValueError(
            f"sums must have {SUM} and {SQUARE} digits, got {sums.shape[1]} and {squares.shape[1]}")
    with nogil:
        while first < rows.shape[0]:
            for j in range(columns):
                add_column(&rows[first, j], min(rows.shape[0] - first, <Py_ssize_t>ROWS), columns,
                           &sums[j, 0], &squares[j, 0])
            first += ROWS


cdef void add_column(const double* x, Py_ssize_t count, Py_ssize_t step,
                     int64_t* sums, int64_t* squares) noexcept nogil:
    cdef Py_ssize_t i, least = SUM, most = 0, low = SQUARE, high = 0, place
    cdef uint64_t word
    cdef int64_t a, b, c, exponent, shift
    for i in range(count):
        memcpy(&word, &x[i * step], sizeof(double))
        if word == 0:
            continue
        exponent = <int64_t>(word >> 52) & 0x7ff
        word &= (<uint64_t>1 << 52) - 1
        if exponent:
            word |= <uint64_t>1 << 52
            exponent -= 1
        a, b, c = word & 0x3ffff, (word >> 18) & 0x3ffff, word >> 36

        place, shift = exponent // BITS, exponent % BITS
        least, most = min(least, place), max(most, place)
        sums[place] += a << shift
        sums[place + 1] += b << shift
        sums[place + 2] += c << shift

        place, shift = 2 * exponent // BITS, 2 * exponent % BITS
        low, high = min(low, place), max(high, place)
        squares[place] += (a * a) << shift
        squares[place + 1] += (2 * a * b) << shift
        squares[place + 2] += (2 * a * c + b * b) << shift
        squares[place + 3] += (2 * b * c) << shift
        squares[place + 4] += (c * c) << shift
    carry_from(sums, least, most + 2, SUM)
    carry_from(squares, low, high + 4, SQUARE)
