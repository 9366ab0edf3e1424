"""The processes of joblib: python loky_pool.py"""

from experiment import check, play
from joblib.externals.loky import get_reusable_executor

if __name__ == "__main__":
    pool = get_reusable_executor(max_workers=2)
    check(play(executor=pool, workers=2))
    pool.shutdown()
