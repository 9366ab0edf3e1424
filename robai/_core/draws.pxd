"""Coins, binomial, Poisson, gamma and beta variables from the generator of a run.

NumPy's samplers, except for counts above 2^36: there their acceptance tests subtract numbers so
large that rounding shows (by 0.1 in the logarithm at 10^15), and the same methods are used with
the logarithm of the probability written by divergences, which lose nothing.

Parameters that are infinite or NaN have some result too: no sampler loops for ever.
"""

from libc.stdint cimport uint64_t

from robai._core.rng cimport Rng, next_uint64

cdef enum:
    COINS = 64                      # that are drawn at once, at most


cdef inline uint64_t draw_coins(double p, int count, Rng* rng) noexcept nogil:
    """The lowest `count` bits, at least one, are 1 with probability p each, from 0 to 1; the others are 0.

    Bit by bit, the highest first, p is compared with a uniform number of every coin at once. Where they
    differ that coin is decided: the last of 64 takes log2(64) + 1.33 words on average. A number has as
    many bits as it takes, so p is met exactly.
    """
    cdef uint64_t heads = 0, undecided = (~<uint64_t>0) >> (COINS - count), word, one, digits
    cdef Rng local = rng[0]
    cdef int _i
    if p >= 1.0:
        return undecided
    while undecided != 0 and p > 0.0:
        p *= 18446744073709551616.0                 # 2^64: the next 64 bits of p are a whole number
        digits = <uint64_t>p
        p -= <double>digits
        for _i in range(64):
            if undecided == 0 or (digits == 0 and p == 0.0):
                break
            word = next_uint64(&local)
            one = 0 - (digits >> 63)                # all ones, or all zeros
            heads |= undecided & ~word & one
            undecided &= word ^ ~one
            digits <<= 1
    rng[0] = local
    return heads


cdef inline int count_ones(uint64_t word) noexcept nogil:
    """In pairs of bits, then in fours, then in eights, whose counts a product adds up."""
    word -= (word >> 1) & <uint64_t>0x5555555555555555
    word = (word & <uint64_t>0x3333333333333333) + ((word >> 2) & <uint64_t>0x3333333333333333)
    word = (word + (word >> 4)) & <uint64_t>0x0F0F0F0F0F0F0F0F
    return <int>((word * <uint64_t>0x0101010101010101) >> 56)


cdef double draw_binomial(double trials, double p, Rng* rng) noexcept nogil
cdef double draw_poisson(double rate, Rng* rng) noexcept nogil
cdef double draw_gamma(double shape, Rng* rng) noexcept nogil
cdef double draw_beta(double a, double b, Rng* rng) noexcept nogil
