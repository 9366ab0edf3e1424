"""The protocols that every policy is made of. The file to read first.

A policy answers three questions, each by an object of its own:

    how to explore?             Exploration   which arm is pulled next
    when to stop?               Stopping      is exploration over
    which arm to commit to?     Commitment    the arm that is played from then on

The names of the paper and the names used here:

    paper                 here
    A                     n_arms
    T                     horizon
    N_t(a)                arms.pulls[a]
    r_t(a)                arms.sums[a] / arms.pulls[a]
    t - 1                 arms.t, the rounds played so far
    l                     level of the confidence bounds
    UCB_t(a), LCB_t(a)    bounds.upper, bounds.lower

Rules hold no statistics: these live in `Arms`, which the engine (or a live agent) fills.
Ties are broken uniformly, with the generator of the run.
"""

from libc.stdint cimport int64_t

from robai._core.rng cimport Rng

cdef enum:
    ABI = 1                         # of all .pxd files together; abi.pxd says when to raise it, and is asked


cdef struct Arms:
    Py_ssize_t n_arms
    int64_t horizon
    int64_t t                       # rounds played so far; the sum of pulls (an agent: see player.pyx)
    int64_t* pulls
    double* sums                    # of the rewards of each arm
    double* squares                 # of their deviations from the arm's own mean; NULL if no rule needs them
    double all_squares              # the sum of these
    Py_ssize_t most                 # an arm with the largest number of pulls
    const int64_t* pending          # further pulls of each arm, without a reward yet; NULL if there are none


cdef inline double mean_of(const Arms* arms, Py_ssize_t arm) noexcept nogil:
    return arms.sums[arm] / <double>arms.pulls[arm]


cdef inline double handed_out(const Arms* arms, Py_ssize_t arm) noexcept nogil:
    """Pulls with and without a reward."""
    return <double>(arms.pulls[arm] + (arms.pending[arm] if arms.pending != NULL else 0))


cdef inline Py_ssize_t best_mean(const Arms* arms) noexcept nogil:
    """The first arm with the largest mean."""
    cdef Py_ssize_t arm, best = 0
    cdef double mean, largest = mean_of(arms, 0)
    for arm in range(1, arms.n_arms):
        mean = mean_of(arms, arm)
        if mean > largest:
            best, largest = arm, mean
    return best


cdef inline void count_pulls(Arms* arms, Py_ssize_t arm, int64_t count) noexcept nogil:
    """`count` more pulls of an arm, in `pulls` and `most`; rounds and sums are the caller's."""
    arms.pulls[arm] += count
    if arms.pulls[arm] > arms.pulls[arms.most]:
        arms.most = arm


cdef inline void add_square(Arms* arms, Py_ssize_t arm, double reward) noexcept nogil:
    """Welford's step for one more reward, before it is counted among pulls and sums."""
    cdef double n = <double>arms.pulls[arm], deviation
    if n > 0.0:
        deviation = reward - arms.sums[arm] / n
        arms.squares[arm] += deviation * deviation * (n / (n + 1.0))


cdef inline double squares_of(const Arms* arms, Py_ssize_t arm) noexcept nogil:
    """The squares of an arm, 0 where they are no more than rounding: of rewards that were all the same."""
    cdef double n = <double>arms.pulls[arm], error = 2.3e-16 * arms.sums[arm]       # n times that of the mean
    return arms.squares[arm] if arms.squares[arm] > n * error * error else 0.0


cdef inline void add_up_squares(Arms* arms) noexcept nogil:
    """Sets `all_squares`, which rules expect to be that of their moment."""
    cdef Py_ssize_t arm
    arms.all_squares = 0.0
    for arm in range(arms.n_arms):
        arms.all_squares += squares_of(arms, arm)


cdef struct Compared:               # what a stopping rule looked at
    bint fires
    double value                    # a round, a number of pulls, a ratio, a bound ...
    double asked                    # ... and what was enough
    Py_ssize_t arm                  # whose value it is, and the arm that comes closest to it; -1 if of none
    Py_ssize_t rival


# Arms as people hand them in, or as Python counts them, to be shown to rules.
cdef class Evidence:
    cdef Arms arms
    cdef int64_t[::1] _pulls
    cdef double[::1] _sums
    cdef double[::1] _squares

    cdef int need(self, int moments) except -1
    cdef Evidence copy(self)


# Uniform among the largest of `values`; draws only if there is a tie.
cdef Py_ssize_t argmax(const double* values, Py_ssize_t count, Rng* rng) noexcept nogil


cdef class Exploration:
    # Before it is asked, every arm is pulled `initial_pulls` times, in turn.
    cdef readonly int64_t initial_pulls
    # Does it draw conclusions that it does not take back, such as dropping an arm? A live agent
    # shows it rewards that have arrived, and nothing else.
    cdef readonly bint concludes
    # Does it tell answered pulls from pending ones? A live agent shows it the former, and the latter beside.
    cdef readonly bint discerns
    # Does it choose while arms have no reward yet? A live agent asks it as soon as the initial pulls have
    # been handed out, before they are answered.
    cdef readonly bint impatient
    # Is it in the middle of pulls that belong together? The stopping rule is asked when they are over, or at
    # the horizon. It changes from one `select` to the next.
    cdef readonly bint midway
    # Can one `select` take a millisecond, so that there is to be a look at the clock after each?
    cdef readonly bint slow
    # Can `select` take long, and `prepare` do its work in parts?
    cdef readonly bint prepares
    # Does it pull the arm with the largest index, so that the leap engine can play it?
    cdef readonly bint leaps
    # Can it come to a number that is none, which `complaint` then tells?
    cdef readonly bint fallible
    # 2 if it looks at `squares`, else 1; likewise for the other rules.
    cdef readonly int moments
    # Does it matter from where rewards are counted? Else, of Gaussian rewards, an engine may count them from
    # the best mean. Stopping rules likewise.
    cdef readonly bint absolute

    # Called at the start of every run.
    cdef void restart(self) noexcept nogil
    # A part of the work that `select` will need, so that an engine can be interrupted in between;
    # whether none is left. What has not been done before, `select` does itself.
    cdef bint prepare(self, const Arms* arms) noexcept nogil
    # The arm to pull next, or -1 if this exploration knows that it is over.
    cdef Py_ssize_t select(self, const Arms* arms, Rng* rng) noexcept nogil
    # The arm to commit to, for explorations that end by themselves.
    cdef Py_ssize_t recommend(self, const Arms* arms, Rng* rng) noexcept nogil
    # Sets the bounds of an arm by which it decides, if there are any; the other rules likewise.
    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil


# A ValueError unless the names of a memory are these.
cdef int expect_fields(memory, names) except -1


cdef class Stopping:
    # How many rewards of every arm it needs before it is asked.
    cdef readonly int64_t initial_pulls
    # Does `quiet` know more than 1? Else it has to be asked after every round, and nothing can be leapt over.
    cdef readonly bint leaps
    # Does it look ahead, so that `foreseen` takes the place of `quiet` where rewards are known?
    cdef readonly bint foresees
    cdef readonly int moments
    cdef readonly bint absolute

    # What it compares; `fires` is its answer. Asked before every pull that follows the initial ones,
    # so that some rules answer without comparing everything.
    cdef Compared compared(self, const Arms* arms) noexcept nogil
    cdef bint fires(self, const Arms* arms) noexcept nogil
    # After how many further pulls, all of `arm`, it could fire at the earliest; at least 1.
    # Lets the engine skip the questions whose answer is known to be no.
    cdef int64_t quiet(self, const Arms* arms, Py_ssize_t arm) noexcept nogil
    # After how many of these next rewards of `arm`, at most all of them, it is to be asked again: it fires
    # after none before. Called right after `fires`, on the same arms.
    cdef Py_ssize_t foreseen(self, const Arms* arms, Py_ssize_t arm, const double* rewards,
                             Py_ssize_t count) noexcept nogil
    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil


cdef class Commitment:
    cdef readonly int moments

    cdef Py_ssize_t choose(self, const Arms* arms, Rng* rng) noexcept nogil
    cdef void bounds_of(self, const Arms* arms, Py_ssize_t arm, double* lower, double* upper) noexcept nogil
    # By how much an arm is preferred, for rules that choose the largest.
    cdef double score(self, const Arms* arms, Py_ssize_t arm) noexcept nogil
