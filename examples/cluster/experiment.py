"""What all recipes play: two policies, in several batches a worker."""

import robai

POLICIES = [robai.EOCPUG(), robai.ThompsonSampling()]
GAME = {"bandit": robai.Gaussian([0.7, 0.2]), "horizon": 2000, "runs": 1000, "rng": 0}


def play(**how):
    return robai.compare(POLICIES, **GAME, **how)


def check(played):
    """The same numbers, to the last bit, as the threads of this machine find."""
    assert played == play()
    print(played.summary())
