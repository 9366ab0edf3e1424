"""An array job: every task plays one policy, and another job collects what they found.

sbatch --array=0-1 --requeue --wrap 'python array_job.py $SLURM_ARRAY_TASK_ID'
python array_job.py collect
"""

import sys

from experiment import GAME, POLICIES, check

import robai

if __name__ == "__main__":
    if sys.argv[1] == "collect":
        check(robai.Comparison(robai.Result.load(f"task-{task}.npz") for task in range(len(POLICIES))))
    else:
        task = int(sys.argv[1])
        # A task that is killed and queued again goes on from the batches that are in its directory.
        result = robai.simulate(POLICIES[task], **GAME, checkpoint=f"task-{task}")
        result.save(f"task-{task}.npz")
