"""How the runs of one simulation are played: requests, batches, checkpoints."""
