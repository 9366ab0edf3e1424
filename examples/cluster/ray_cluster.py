"""A cluster of Ray: python ray_cluster.py"""

from concurrent.futures import Executor

import ray
from experiment import check, play


class RayExecutor(Executor):
    """Tasks of Ray, one core each, as an executor."""

    def __init__(self):
        self._call = ray.remote(lambda function, *arguments: function(*arguments))

    def submit(self, function, /, *arguments):
        task = self._call.remote(function, *arguments)
        future = task.future()
        future.add_done_callback(lambda done: ray.cancel(task) if done.cancelled() else None)
        return future


if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False)
    played = play(executor=RayExecutor(), workers=2)
    ray.shutdown()
    check(played)
