"""A cluster of Dask: python dask_cluster.py"""

from dask.distributed import Client, LocalCluster
from experiment import check, play

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1) as cluster, Client(cluster) as client:
        played = play(executor=client.get_executor(pure=False), workers=2)
    check(played)
