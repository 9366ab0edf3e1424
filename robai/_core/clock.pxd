"""Nanoseconds by a clock that is never set back; Python's own is not in its stable ABI."""

from libc.stdint cimport int64_t


cdef extern from *:
    """
    #ifdef _WIN32
    #define WIN32_LEAN_AND_MEAN
    #include <windows.h>
    static int64_t robai_monotonic_ns(void) {
        LARGE_INTEGER ticks, per_second;
        QueryPerformanceCounter(&ticks);
        QueryPerformanceFrequency(&per_second);
        return (int64_t)((double)ticks.QuadPart / (double)per_second.QuadPart * 1e9);
    }
    #else
    #include <time.h>
    static int64_t robai_monotonic_ns(void) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    }
    #endif
    """
    int64_t monotonic_ns "robai_monotonic_ns"() noexcept nogil
