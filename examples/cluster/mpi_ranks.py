"""Ranks of MPI: mpiexec -n 3 python -m mpi4py.futures mpi_ranks.py"""

from experiment import check, play
from mpi4py.futures import MPIPoolExecutor

if __name__ == "__main__":
    with MPIPoolExecutor() as pool:
        played = play(executor=pool, workers=pool.num_workers)
    check(played)
