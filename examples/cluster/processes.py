"""A pool of processes: python processes.py"""

from concurrent.futures import ProcessPoolExecutor

from experiment import check, play

if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        played = play(executor=pool, workers=2)
    check(played)
