"""What all recipes play: one policy that leaps and one that plays every round, in several batches a worker."""

import robai


def play(**how):
    return robai.compare(
        [robai.EOCPUG(), robai.ThompsonSampling()], robai.Gaussian([0.7, 0.2]), 2000, 1000, rng=0, **how
    )


def check(played):
    """The same numbers, to the last bit, as the threads of this machine find."""
    assert played == play()
    print(played.summary())
