"""simulate() and compare(): the numbers depend on the seed and on nothing else, and mean what they say."""

import contextlib
import multiprocessing
import queue
import sys
import tracemalloc
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from support.examples import Turns, fitting
from support.threads import no_more_threads_than

import robai
from robai._base.spec import Kind, parameter, spec
from robai._core.rng import NUMPY
from robai._play import batches, together

BANDIT = robai.Gaussian([0.7, 0.2])
COUNTED = robai.Bernoulli([0.7, 0.2, 0.5])  # with ties, which draw from the generator too
POLICY = robai.EOCPUG(sigma=1.0)


def played(policy=POLICY, bandit=BANDIT, horizon=3000, runs=150, rng=7, curves=True, **options):
    return robai.simulate(policy, bandit, horizon, runs, rng=rng, curves=curves, **options)


class Inline:
    """An executor that is none: it runs what it is given at once, and keeps count."""

    def __init__(self):
        self.calls = []

    def submit(self, function, *arguments):
        self.calls.append(arguments)
        future = Future()
        future.set_result(function(*arguments))
        return future


# ---- run r depends on the seed and on r alone


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_do_not_depend_on_the_number_of_workers(workers):
    for bandit in (BANDIT, COUNTED):
        assert played(bandit=bandit, workers=workers) == played(bandit=bandit)


def test_results_do_not_depend_on_the_executor():
    here = played()
    inline = Inline()
    assert played(executor=inline) == here
    assert len(inline.calls) > 1
    with ThreadPoolExecutor(3) as threads:
        assert played(executor=threads) == here
        assert threads.submit(int).result() == 0  # not shut down: it belongs to the caller


@pytest.mark.parametrize("workers", [1, 2])
def test_a_pool_does_not_wait_for_itself(workers):
    with ThreadPoolExecutor(workers) as pool:
        inside = pool.submit(played, executor=pool)
        with pytest.raises(ValueError, match="executor must not be the pool in which this call runs"):
            inside.result(timeout=60)
        assert pool.submit(played).result(timeout=60) == played(executor=pool)


def test_results_are_the_same_from_other_processes():
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawn) as processes:
        assert played(runs=40, executor=processes) == played(runs=40)


@pytest.mark.parametrize("size", [1, 7, 100, 10**6])
def test_results_do_not_depend_on_the_size_of_a_batch(monkeypatch, size):
    expected = played(bandit=COUNTED)
    monkeypatch.setattr(together, "batch_size", lambda *_: size)
    inline = Inline()
    assert played(bandit=COUNTED, executor=inline) == expected
    assert len(inline.calls) >= -(-150 // size)


def test_results_do_not_depend_on_how_often_a_kernel_returns(monkeypatch):
    expected = played(bandit=COUNTED, runs=20)
    monkeypatch.setattr(batches, "PIECE", 1.0)
    assert played(bandit=COUNTED, runs=20) == expected


def test_the_limits_of_a_batch_are_kept(monkeypatch):
    monkeypatch.setattr(batches, "LARGEST_BATCH", 10)
    inline = Inline()
    played(executor=inline, workers=1, runs=1000, horizon=10)
    sizes = [last - first for _, first, last, _ in inline.calls]
    assert set(sizes) <= set(range(1, 11))
    assert sizes[:90] == [10] * 90
    assert sizes[-1] == 1  # workers are to end at once
    monkeypatch.setattr(batches, "LARGEST_BATCH_ENTRIES", 3 * 10)  # three runs of ten times
    inline = Inline()
    played(executor=inline, workers=1, runs=90, horizon=10, times=range(1, 11))
    assert max(last - first for _, first, last, _ in inline.calls) == 3


def test_fewer_runs_are_the_first_of_more():
    # Across blocks of seeds (256 runs) and batches of different sizes.
    many = played(bandit=COUNTED, runs=700, horizon=500)
    for runs in (1, 2, 255, 256, 257, 350):
        few = played(bandit=COUNTED, runs=runs, horizon=500)
        for name in ("final_regret", "commit_time", "committed_arm", "pulls", "curves"):
            assert (getattr(few, name) == getattr(many, name)[:runs]).all()


def test_runs_differ():
    assert len(np.unique(played(runs=700, policy=robai.UCB(sigma=1.0)).curves, axis=0)) == 700


@pytest.mark.parametrize("times", [1, 2, 17, 1000, [5], [1, 2, 3], np.array([10, 3000]), range(1, 3001)])
def test_the_run_does_not_depend_on_when_it_is_looked_at(policy, times):
    bandit = fitting(policy, COUNTED)
    horizon = 60 if isinstance(policy, robai.TrackAndStop) else 3000
    times = times if np.ndim(times) == 0 else [time for time in times if time <= horizon]
    expected = played(policy, bandit, horizon, runs=3, times=range(1, horizon + 1))
    result = played(policy, bandit, horizon, runs=3, times=times)
    for name in ("final_regret", "commit_time", "committed_arm", "pulls"):
        assert (getattr(result, name) == getattr(expected, name)).all()
    assert (result.curves == expected.curves[:, result.times - 1]).all()


def test_policies_and_bandits_are_not_changed_by_being_used(policy, bandit):
    bandit = fitting(policy, bandit)
    before = repr(policy), repr(bandit)
    first = played(policy, bandit, horizon=50, runs=2)
    assert played(policy, bandit, horizon=50, runs=2) == first
    assert (repr(policy), repr(bandit)) == before


# ---- what a Result holds


def test_the_fields_of_a_result(policy, bandit):
    bandit = fitting(policy, bandit)
    horizon, runs = 80, 12
    result = played(policy, bandit, horizon, runs, times=20)
    assert result.horizon == horizon
    assert result.runs == runs
    assert result.n_arms == bandit.n_arms
    assert result.label == policy.label()
    assert result.gaps.tolist() == list(bandit.gaps)
    assert (result.best_arm,) == bandit.best_arms
    assert result.pulls.shape == (runs, bandit.n_arms)
    assert (result.pulls.sum(axis=1) == horizon).all()
    assert result.final_regret == pytest.approx(result.pulls @ result.gaps, rel=1e-13)
    assert (result.curves[:, -1] == result.final_regret).all()
    assert result.regret == pytest.approx(result.curves.mean(axis=0), rel=1e-13)
    assert result.regret_sem == pytest.approx(
        result.curves.std(axis=0, ddof=1) / np.sqrt(runs), rel=1e-9, abs=1e-12
    )
    assert (np.diff(result.curves, axis=1) >= 0).all()
    assert (result.committed == (result.committed_arm >= 0)).all()
    assert (result.commit_time[result.committed] <= horizon).all()
    assert result.meta["policy"] == policy.to_dict()
    assert result.meta["bandit"] == bandit.to_dict()
    assert result.meta["seconds"] >= 0
    assert result.meta["robai"] == robai.__version__
    assert result.meta["numpy"] == NUMPY  # whose samplers played, not the one that is imported


def test_long_data_is_described_by_its_length_and_a_hash():
    def described(data):
        result = robai.simulate(robai.UCB(sigma=1.0), robai.Empirical([data, [0.5]]), 10, 1, rng=0)
        long, short = result.meta["bandit"]["samples_per_arm"]
        assert short == [0.5]
        return long

    data = [float(value) for value in range(1000)]
    assert described(data) == data
    assert described([*data, 1.0])["length"] == 1001
    assert described([*data, 1.0]) == described([*data, 1.0]) != described([*data, 2.0])
    many = robai.simulate(
        robai.UCB(sigma=1.0), robai.Empirical([[1.0, 0.5]] + [[0.5]] * 1000), 1100, 1, rng=0
    )
    assert many.meta["bandit"]["samples_per_arm"]["length"] == 1001


def test_what_a_policy_in_python_holds_is_not_in_meta():
    assert played(Turns()).meta["policy"] == {"type": "CustomPolicy", "name": "Turns"}


def test_a_parameter_that_is_no_json_is_described_by_its_text():
    @spec
    class Odd(robai.UCB):
        sizes: object = parameter(Kind(lambda _, value: value, "anything"), default=None)

    sizes = (np.float32(2.0), float("inf"), {3})
    assert played(Odd(sizes=sizes)).meta["policy"]["sizes"] == ["np.float32(2.0)", "inf", "{3}"]


def test_after_the_commitment_only_the_committed_arm_is_played():
    bandit = robai.Bernoulli([0.5, 0.4, 0.3])  # often wrong at once
    result = played(robai.EOCP(gap=3.0, sigma=1.0), bandit, horizon=1000, runs=300, times=range(1, 1001))
    assert set(result.committed_arm.tolist()) == {0, 1, 2}
    for run in range(300):
        increments = np.diff(result.curves[run])[result.commit_time[run] - 1 :]
        assert np.abs(increments - result.gaps[result.committed_arm[run]]).max() < 1e-9


def test_eocp_with_a_known_gap_commits_at_its_round():
    # T_c = 8 K l / gap^2 + K with l = log T + sqrt(log T)
    result = robai.simulate(robai.EOCP(gap=0.5, sigma=1.0), BANDIT, 10**6, 2000, rng=0)
    assert set(result.commit_time.tolist()) == {1124}
    assert set(result.committed_arm.tolist()) == {0}


def test_a_run_too_short_to_commit_never_does():
    result = played(robai.EOCP(gap=0.5, sigma=1.0), horizon=500, runs=20)
    assert set(result.commit_time.tolist()) == {-1}
    assert set(result.committed_arm.tolist()) == {-1}


def test_curves_are_kept_only_if_asked_for():
    without = played(curves=False)
    assert without.curves is None
    assert played().curves.shape == (150, len(without.times))
    assert (without.final_regret == played().final_regret).all()
    assert (without.regret == played().regret).all()


def test_one_run_has_no_standard_error():
    result = played(runs=1)
    assert np.isnan(result.regret_sem).all()
    assert (result.regret == result.curves[0]).all()


# ---- times and horizons


@pytest.mark.parametrize("horizon", [2, 3, 10, 199, 200, 201, 10**6, 10**12])
@pytest.mark.parametrize("count", [1, 2, 3, 200])
def test_a_number_of_times_is_log_spaced_and_ends_at_the_horizon(horizon, count):
    result = played(robai.EOCP(gap=3.0, sigma=1.0), horizon=horizon, runs=2, times=count)
    assert result.times[-1] == horizon
    assert 1 <= len(result.times) <= count
    assert (np.diff(result.times) > 0).all()
    if count > 1:
        assert result.times[0] == 1
    if horizon == 10**6 and count == 3:
        assert result.times.tolist() == [1, 1000, 10**6]


def test_given_times_are_kept_and_the_horizon_is_added():
    assert played(times=[1, 10, 77]).times.tolist() == [1, 10, 77, 3000]
    assert played(times=(5.0, 3000)).times.tolist() == [5, 3000]
    assert played(times=np.array([3000], dtype=np.int32)).times.tolist() == [3000]
    assert played(times=1).times.tolist() == [3000]


def test_whole_floats_and_numpy_integers_are_whole_numbers():
    expected = played(horizon=1000, runs=50)
    assert played(horizon=1e3, runs=50.0, times=200.0, workers=2.0) == expected
    assert played(horizon=np.int64(1000), runs=np.uint8(50), times=np.float32(200)) == expected


def test_a_horizon_of_10_to_the_18_is_exact():
    horizon = 10**18
    bandit = robai.Gaussian([3.0, 0.0, -0.5])
    result = played(robai.EOCP(gap=3.0, sigma=1.0), bandit, horizon, runs=30)
    assert result.times[-1] == horizon
    assert result.pulls.sum(axis=1).tolist() == [horizon] * 30  # in integers
    assert set(result.committed_arm.tolist()) == {0}
    wasted = result.pulls[:, 1:] @ np.array([3.0, 3.5])
    assert (result.final_regret == wasted).all()
    assert 0 < result.final_regret.max() < 1000


def test_a_wrong_commitment_for_10_to_the_18_rounds_costs_them_all():
    result = played(
        robai.EOCP(gap=1e9, inflation=0.0, sigma=1.0),
        robai.Gaussian([0.5, 0.0]),
        10**18,
        runs=50,
        curves=True,
    )
    wrong = result.committed_arm == 1
    assert 0 < wrong.sum() < 50
    assert result.commit_time.tolist() == [2] * 50
    assert result.pulls[wrong].tolist() == [[1, 10**18 - 1]] * wrong.sum()
    assert (result.final_regret[wrong] == 0.5 * (10**18 - 1)).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"runs": 10**15, "curves": False}, r"got 1,000,000,000,000,000: .*5 numbers a run .*40,000,000 GB"),
        ({"runs": 10**9, "horizon": 10**7, "times": 10**5}, "got 1,000,000,000: .* of them curves need"),
    ],
)
def test_more_runs_than_memory_can_hold_are_refused_before_any_is_played(changes, message):
    inline = Inline()
    with pytest.raises(ValueError, match=f"runs must be fewer on this machine, {message}"):
        played(executor=inline, **changes)
    with pytest.raises(ValueError, match=r"runs must be fewer on this machine, got 10,000,000,000,000"):
        robai.compare([robai.UCB(sigma=1.0), POLICY], BANDIT, 100, 10**13, executor=inline)
    assert inline.calls == []


def test_a_result_is_not_kept_twice():
    bandit = robai.Gaussian(np.linspace(0.0, 1.0, 1000))
    tracemalloc.start()
    result = played(robai.EOCP(gap=3.0, sigma=1.0), bandit, 1000, 4000, curves=False, workers=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * result.pulls.nbytes  # and the batches under way


def test_memory_does_not_grow_with_the_horizon():
    def peak(horizon):
        tracemalloc.start()
        played(robai.UCB(sigma=1.0), horizon=horizon, runs=4, times=5, executor=Inline())
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    peak(10)  # what is made once
    assert peak(10**6) < peak(10**3) + 20_000


def test_a_warning_of_many_equal_arms_is_short():
    with pytest.warns(UserWarning, match=r"^arms 0, 1, .*, 9 and 1,990 more are all best: .{,80}$"):
        played(bandit=robai.Bernoulli([0.5] * 2000), runs=1)


# ---- progress


def test_progress_is_told_runs_done_up_to_all():
    calls = []
    played(runs=2000, progress=lambda done, total: calls.append((done, total)))
    done, totals = zip(*calls, strict=True)
    assert set(totals) == {2000}
    assert list(done) == sorted(set(done))
    assert len(done) > 3
    assert done[-1] == 2000


def test_an_error_in_the_progress_function_ends_the_simulation():
    before = len(sys._current_frames())

    def fails(done, total):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        played(policy=robai.UCB(sigma=1.0), horizon=10**6, runs=1000, progress=fails)
    assert no_more_threads_than(before)


def test_no_progress_is_silent(capfd):
    played()
    assert capfd.readouterr() == ("", "")


def test_progress_is_a_bar_with_tqdm(capfd):
    pytest.importorskip("tqdm")
    expected = played()
    assert played(progress=True) == expected
    text = capfd.readouterr().err
    assert "EOCPUG(sigma=1.0)" in text
    assert "150/150" in text


def test_progress_is_a_line_without_tqdm(capfd, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    played(progress=True)
    text = capfd.readouterr().err
    assert text.endswith("\n")
    assert text.split("\r")[-1] == "EOCPUG(sigma=1.0): 150 of 150 runs\n"


# ---- compare


def test_compare_gives_what_simulate_alone_gives():
    policies = [robai.EOCP(gap=0.5, sigma=1.0), robai.EOCPUG(sigma=1.0), robai.UCB(sigma=1.0)]
    comparison = robai.compare(policies, BANDIT, 3000, 150, rng=7, curves=True)
    assert list(comparison) == ["EOCP(gap=0.5, sigma=1.0)", "EOCPUG(sigma=1.0)", "UCB(sigma=1.0)"]
    for policy in policies:
        assert comparison[policy.label()] == played(policy)


def test_compare_takes_labels():
    comparison = robai.compare({"b": robai.UCB(sigma=1.0), "a": robai.UCB(sigma=1.0)}, BANDIT, 500, 20, rng=1)
    assert list(comparison) == ["b", "a"]
    assert comparison["a"].label == "a"
    assert (comparison["a"].final_regret == comparison["b"].final_regret).all()


def test_compare_takes_any_iterable_and_all_options():
    calls = []
    comparison = robai.compare(
        (policy for policy in [robai.UCB(sigma=1.0), robai.EOCPUG(sigma=1.0)]),
        BANDIT,
        500,
        20,
        rng=np.random.default_rng(0),
        times=[10, 500],
        workers=1,
        progress=lambda *done: calls.append(done),
    )
    assert comparison["UCB(sigma=1.0)"].times.tolist() == [10, 500]
    assert calls.count((20, 20)) == 2


def test_compare_takes_times_that_can_be_read_once():
    times = [10, 20, 500]
    comparison = robai.compare(
        [robai.UCB(sigma=1.0), robai.EOCPUG(sigma=1.0)], BANDIT, 500, 20, rng=1, times=iter(times)
    )
    assert [result.times.tolist() for result in comparison.values()] == [times, times]


def test_compare_without_a_seed_gives_all_policies_the_same_fresh_one():
    first, second = (robai.compare({"a": POLICY, "b": POLICY}, BANDIT, 500, 50) for _ in range(2))
    assert (first["a"].final_regret == first["b"].final_regret).all()
    assert (first["a"].final_regret != second["a"].final_regret).any()


@pytest.mark.parametrize("error", [TimeoutError("own"), queue.Empty("own"), KeyError("own")])
@pytest.mark.parametrize("lend", [contextlib.nullcontext, lambda: ThreadPoolExecutor(1)])
def test_an_error_in_a_worker_is_that_of_the_caller(lend, error):
    class Fails:
        def select(self, state):
            raise error

        def update(self, arm, reward):
            pass

    with lend() as executor, pytest.raises(type(error), match="own"):
        played(policy=Fails(), executor=executor)
