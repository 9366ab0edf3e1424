"""Ctrl-C stops a simulation at once, whatever it is doing, and leaves nothing half-written."""

import contextlib
import copy
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from support.threads import no_more_threads_than

import robai
from robai._base.files import load_arrays
from robai._play import batches

LIMIT = 0.1  # seconds from the signal to the caller's `except KeyboardInterrupt`
POOL_LIMIT = 1.0  # to the end of all workers of an executor
TRIES = 3  # the machine may be busy with something else

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

# time.monotonic() is one clock for all processes of the machine (CLOCK_MONOTONIC), so the parent's
# time just before the signal and the child's time after it can be compared.
CHILD = """
import signal, time
import robai

signal.signal(signal.SIGINT, signal.default_int_handler)
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
else:
    print("not interrupted", flush=True)
"""


def indented(lines):
    """As the body of the child's `try`."""
    return textwrap.indent(textwrap.dedent(lines).strip(), "    ").lstrip()


@contextlib.contextmanager
def started(call, **environment):
    """A process that has begun the call; it and those that it has started are gone in the end."""
    path = os.pathsep.join(filter(None, sys.path))
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(CHILD).format(call=call)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path} | environment,
        start_new_session=True,
    ) as child:
        try:
            assert child.stdout.readline() == "ready\n", child.stderr.read()
            yield child
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)


def seconds_to_stop(call, after=0.4, **environment):
    """How long after Ctrl-C the call is over."""
    with started(call, **environment) as child:
        time.sleep(after)
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=20)
    assert child.returncode == 0, err
    return float(out) - sent


def assert_within(limit, seconds, *arguments, **options):
    """That one of a few measurements is below the limit."""
    took = []
    while len(took) < TRIES:
        took.append(seconds(*arguments, **options))
        if took[-1] < limit:
            return
    pytest.fail(f"took {took} seconds in {TRIES} tries")


@pytest.mark.parametrize(
    "call",
    [
        "robai.simulate(robai.UCB(), robai.Gaussian([0.7, 0.2]), 10**15, 1, workers=1)",
        "robai.simulate(robai.UCB(), robai.Gaussian([0.7, 0.2]), 10**15, 100, workers=2)",
        "robai.simulate(robai.KLUCB('round'), robai.Bernoulli([0.5] * 300 + [0.6]), 10**12, 10, workers=2)",
        "robai.simulate(robai.ThompsonSampling(), robai.Poisson([0.5] * 300 + [0.6]), 10**12, 10)",
        "robai.simulate(robai.TrackAndStop(), robai.Bernoulli([0.5] * 50 + [0.51]), 10**12, 100, workers=2)",
        "robai.simulate(robai.TrackAndStop(), robai.Bernoulli([0.5] * 1000 + [0.6]), 10**12, 10, workers=1)",
        "robai.simulate(robai.EOCP(gap=0.5), robai.Gaussian([0.7, 0.2]), 10**6, 10**7)",
        "robai.compare([robai.UCB(), robai.EOCPUG()], robai.Gaussian([0.7, 0.2]), 10**15, 10)",
    ],
    ids=["one-worker", "two-workers", "kl-ucb", "thompson", "tas-50", "tas-1000", "many-runs", "compare"],
)
def test_ctrl_c_stops_a_simulation_at_once(call):
    assert_within(LIMIT, seconds_to_stop, call[:-1] + ", engine='step')")


@pytest.mark.parametrize("after", [0.0, 0.02, 0.2, 0.5])
def test_ctrl_c_leaves_only_whole_batches_in_a_checkpoint(tmp_path, after):
    arguments = "robai.UCB(), robai.Gaussian([0.7, 0.2]), 3000, {runs}, rng=5, times=9"
    directory = tmp_path / "saved"
    call = f"robai.simulate({arguments.format(runs=10**6)}, checkpoint={str(directory)!r})"
    seconds_to_stop(call, after)
    if directory.exists():
        assert list(directory.glob(".*")) == []  # no temporary files
        for file in directory.glob("*.npz"):
            load_arrays(file)  # raises if it is not whole
    resumed = eval(f"robai.simulate({arguments.format(runs=200)}, checkpoint=directory)")
    assert resumed == eval(f"robai.simulate({arguments.format(runs=200)})")


def test_an_interrupted_simulation_leaves_no_threads_behind():
    call = """
    from support.threads import no_more_threads_than
    try:
        robai.simulate(robai.UCB(), robai.Gaussian([0.7, 0.2]), 10**15, 10, workers=3, engine="step")
    finally:
        assert no_more_threads_than(1)
    """
    assert seconds_to_stop(indented(call), after=2.0) < 10


@pytest.mark.parametrize("interrupt", ["_thread.interrupt_main()", "signal.raise_signal(signal.SIGINT)"])
def test_a_signal_that_does_not_wake_the_main_thread_stops_it_too(interrupt):
    # As on Windows, where waiting for a lock cannot be interrupted, and in IDLE.
    call = f"""
    import _thread, threading
    threading.Timer(0.3, lambda: {interrupt}).start()
    robai.simulate(robai.UCB(), robai.Gaussian([0.7, 0.2]), 10**15, 10, engine="step")
    """
    with started(indented(call)) as child:
        out, err = child.communicate(timeout=10)
    assert float(out) > 0, err


def test_the_same_process_can_go_on_after_an_interruption():
    policy, bandit = robai.UCB(), robai.Gaussian([0.7, 0.2])
    before = robai.simulate(policy, bandit, 1000, 200, rng=1)

    def interrupts(done, total):
        raise KeyboardInterrupt

    threads = len(sys._current_frames())
    with pytest.raises(KeyboardInterrupt):
        robai.simulate(policy, bandit, 10**5, 200, rng=1, engine="step", progress=interrupts)
    assert no_more_threads_than(threads)
    assert robai.simulate(policy, bandit, 1000, 200, rng=1) == before


EVERYWHERE = """
import sys
from robai._play import batches
from support.threads import no_more_threads_than

batches.{constant} = 0  # threads, although it is little to play

WATCHED = ("batches.py", "workers.py", "threading.py", "queue.py", "thread.py", "_base.py")

def interrupted_at(number):
    def trace(frame, event, argument):
        nonlocal number
        if event != "call" and frame.f_code.co_filename.endswith(WATCHED):
            number -= 1
            if number == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace
    return trace

bandit = robai.Gaussian([0.7, 0.2])
number, interrupted = 0, True
while interrupted:
    number, interrupted = number + 1, False
    sys.settrace(interrupted_at(number))
    try:
        robai.simulate(robai.UCB(), bandit, 200, 30, times=2, workers=2)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        sys.settrace(None)
    assert no_more_threads_than(1), number
assert number > 100
print(number)
raise KeyboardInterrupt
"""


@pytest.mark.parametrize("constant", ["MOST_AT_ONCE", "MOMENT"])
def test_an_interruption_at_any_line_is_one(constant):
    # No lock that a worker needs is left behind, and no exception but this one comes of it.
    with started(indented(EVERYWHERE.format(constant=constant))) as child:
        out, err = child.communicate(timeout=120)
    assert (child.returncode, err) == (0, "")
    assert int(out.split()[0]) > 100


POOL = """
from concurrent.futures import {kind} as Pool
from support.examples import Turns
with Pool(2) as pool:
    robai.simulate({policy}, robai.Gaussian([0.7, 0.2]), 10**15, 100, executor=pool, workers=2, engine="step")
"""


@pytest.mark.parametrize("policy", ["robai.UCB()", "Turns()"])
@pytest.mark.parametrize("kind", ["ProcessPoolExecutor", "ThreadPoolExecutor"])
def test_ctrl_c_stops_the_workers_of_a_pool(tmp_path, kind, policy):
    # The end of the `with` waits for them: those that play, and those that had a batch in their hands.
    call = indented(POOL.format(kind=kind, policy=policy))
    assert_within(POOL_LIMIT, seconds_to_stop, call, after=2.0, TMPDIR=str(tmp_path))
    assert list(tmp_path.iterdir()) == []  # nothing of it is left


def test_a_pool_on_another_machine_is_not_stopped_by_a_file_that_is_not_there(monkeypatch, tmp_path):
    given = {"horizon": 1000, "runs": 50, "rng": 1}
    expected = robai.simulate(robai.UCB(), robai.Gaussian([0.7, 0.2]), **given)

    class Elsewhere:
        """An executor whose workers cannot see the files of this process."""

        def submit(self, function, *arguments):
            for file in tmp_path.iterdir():
                file.unlink()
            future = Future()
            future.set_result(function(*arguments))
            return future

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert robai.simulate(robai.UCB(), robai.Gaussian([0.7, 0.2]), **given, executor=Elsewhere()) == expected


def test_an_executor_that_cancels_what_is_under_way_does_not_leave_it_playing(monkeypatch, tmp_path):
    looked, over, ended = threading.Event(), threading.Event(), threading.Event()

    class Look:
        """A worker's own copy of a stop, which it looks at once, and again when the simulation is over."""

        def __init__(self, stop):
            self.stop = copy.copy(stop)

        def is_set(self):
            if looked.is_set():
                over.wait()
            found = self.stop.is_set()
            looked.set()
            return found

    class Careless:
        """Its futures can be cancelled although their calls are under way, as those of Ray can."""

        def submit(self, function, *arguments):
            if looked.is_set():
                raise ArithmeticError("no second batch")

            def run():
                with pytest.raises(batches.Interrupted):
                    function(*arguments[:-1], Look(arguments[-1]))
                ended.set()

            threading.Thread(target=run, daemon=True).start()
            assert looked.wait(60)
            return Future()

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    bandit = robai.Gaussian([0.7, 0.2])
    with pytest.raises(ArithmeticError, match="no second batch"):
        robai.simulate(robai.UCB(), bandit, 10**15, 50, executor=Careless(), workers=1, engine="step")
    assert list(tmp_path.iterdir()) == []
    over.set()
    assert ended.wait(60)


def test_an_executor_can_be_used_where_nothing_can_be_written(monkeypatch):
    expected = robai.simulate(robai.UCB(), robai.Gaussian([0.7, 0.2]), 1000, 50, rng=1)
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere/at/all")
    with ThreadPoolExecutor(2) as pool:
        assert (
            robai.simulate(robai.UCB(), robai.Gaussian([0.7, 0.2]), 1000, 50, rng=1, executor=pool)
            == expected
        )


IN_A_THREAD = """
import threading
from concurrent.futures import ThreadPoolExecutor

def simulate():
    robai.simulate(robai.UCB(), robai.Gaussian([0.7, 0.2]), 10**15, 100, engine="step")

{begin}
"""


def seconds_to_end(call):
    """How long after Ctrl-C has ended the call in the main thread the process is over."""
    with started(call) as child:
        time.sleep(0.4)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=20)
        ended = time.monotonic()
    assert (child.returncode, err) == (0, "")
    return ended - float(out)


@pytest.mark.parametrize(
    "begin",
    [
        "thread = threading.Thread(target=simulate); thread.start(); thread.join()",
        "ThreadPoolExecutor(1).submit(simulate).result()",
    ],
    ids=["thread", "pool"],
)
def test_a_simulation_in_another_thread_ends_with_the_interpreter(begin):
    assert_within(2 * LIMIT, seconds_to_end, indented(IN_A_THREAD.format(begin=begin)))


def test_a_worker_that_is_told_to_stop_does():
    class Taken(Exception):
        """What a worker would be given."""

    class Taking:
        def submit(self, function, *arguments):
            raise Taken(function, arguments)

    with pytest.raises(Taken) as caught:
        robai.simulate(robai.UCB(), robai.Gaussian([0.7, 0.2]), 10**15, 1, executor=Taking(), engine="step")
    play, (job, *span, _) = caught.value.args
    stop = threading.Event()
    stop.set()
    with pytest.raises(batches.Interrupted):
        play(job, *span, stop)


def test_an_executor_of_the_caller_has_its_waiting_batches_cancelled():
    class Never:
        """Keeps what it is given for ever."""

        def __init__(self):
            self.futures = []

        def submit(self, function, *arguments):
            self.futures.append(Future())
            if len(self.futures) == 2:
                self.futures[0].set_exception(ArithmeticError("a worker failed"))
            return self.futures[-1]

    executor = Never()
    with pytest.raises(ArithmeticError, match="a worker failed"):
        robai.simulate(robai.UCB(), robai.Gaussian([0.7, 0.2]), 100, 50, executor=executor, workers=1)
    assert len(executor.futures) > 1
    assert all(future.cancelled() for future in executor.futures[1:])
