"""keep="summary": sums and counts of the runs that keep="runs" returns, in whatever parts they are played."""

import itertools
import json
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from fractions import Fraction

import numpy as np
import pytest
from support.summaries import GAMES, GAUSSIAN, RUNS, play

import robai
from robai._base.counted import BITS, Counted
from robai._core.sums import DIGIT_BITS, SQUARE_DIGITS, SUM_DIGITS, add_exactly, carry
from robai._play import batches


@pytest.fixture(scope="module", params=GAMES)
def both(request):
    with pytest.warns(UserWarning, match="are all best") if request.param == "ties" else nullcontext():
        return play(request.param), play(request.param, keep="summary")


def whole(digits):
    return sum(digit << DIGIT_BITS * place for place, digit in enumerate(digits.tolist()))


def test_sums_are_exact():
    rng = np.random.default_rng(1)
    rows = np.abs(rng.standard_normal((700, 5))) * [1.0, 1e300, 5e-324, 1e-310, 1e18]
    rows[:, 0] = np.exp(rng.uniform(-744.0, 709.0, 700))
    rows[:3, 0] = 0.0, np.finfo(float).max, 5e-324
    sums, squares = np.zeros((5, SUM_DIGITS), np.int64), np.zeros((5, SQUARE_DIGITS), np.int64)
    add_exactly(rows[:300].copy(), sums, squares)
    add_exactly(rows[300:].copy(), sums, squares)
    for column, total, of_squares in zip(rows.T.tolist(), sums, squares, strict=True):
        assert whole(total) == sum(map(Fraction, column)) * 2**1074
        assert whole(of_squares) == sum(Fraction(x) ** 2 for x in column) * 2**2148
    for digits in (sums, squares):
        assert digits.min() >= 0
        assert digits.max() < 2**DIGIT_BITS
        before = [2 * whole(row) for row in digits]
        digits += digits.copy()
        carry(digits)
        assert [whole(row) for row in digits] == before
        assert digits.max() < 2**DIGIT_BITS


def test_a_digit_has_room_for_a_batch_of_the_largest_significands():
    largest = np.full((10_000, 1), np.nextafter(2.0, 1.0))
    for power in range(36):  # every place in a digit
        rows = largest * 2.0**power
        sums, squares = np.zeros((1, SUM_DIGITS), np.int64), np.zeros((1, SQUARE_DIGITS), np.int64)
        add_exactly(rows, sums, squares)
        assert whole(sums[0]) == Fraction(rows[0, 0]) * 10_000 * 2**1074
        assert whole(squares[0]) == Fraction(rows[0, 0]) ** 2 * 10_000 * 2**2148


def test_means_and_errors_are_those_of_the_runs(both):
    runs, kept = both
    assert np.allclose(kept.regret, runs.regret, rtol=1e-13, atol=0.0)
    # What Welford's squares lose by rounding counts where all runs have nearly the same regret.
    assert np.allclose(kept.regret_sem, runs.regret_sem, rtol=1e-12, atol=1e-15 * runs.regret.max())
    exact = math.fsum(runs.final_regret) / RUNS
    assert kept.regret[-1] == pytest.approx(exact, rel=2e-16, abs=0.0)
    one, other = kept.digest(), runs.digest()
    for name in ("regret", "capped_time", "commit_time"):
        assert getattr(one, name) == (getattr(other, name) and pytest.approx(getattr(other, name), rel=1e-12))
    assert one.shares == pytest.approx(other.shares, rel=1e-12)
    for mine, its in zip(kept._shares(), runs._shares(), strict=True):
        assert mine == pytest.approx(its, rel=1e-9)
    assert kept._best_share() == pytest.approx(runs._best_share(), rel=1e-12)


def test_counts_are_exact(both):
    runs, kept = both
    assert kept.runs == runs.runs == RUNS
    assert kept.commitments.tolist() == runs.commitments.tolist()
    assert kept.commitments.sum() == runs.committed.sum()
    assert kept.wrong == runs._wrong()
    assert kept.digest().wrong == runs.digest().wrong
    assert kept.digest().committed == runs.digest().committed
    assert kept.own_means == runs.own_means
    assert np.array_equal(kept.times, runs.times)
    assert kept.n_arms == runs.n_arms


def test_quantiles_are_those_of_the_runs_to_eleven_bits(both):
    runs, kept = both
    assert kept.digest().quantiles == pytest.approx(runs.digest().quantiles, rel=0.5**BITS, abs=0.0)
    median, exact = kept.digest().commit_median, runs.digest().commit_median
    assert median == (exact if exact is None or exact <= 2048 else pytest.approx(exact, rel=0.5**BITS))
    carriers = runs.half_of_regret()
    assert kept.half_of_regret() == pytest.approx(carriers, abs=1 + carriers * 0.01)


@pytest.mark.parametrize("level", [0.0, 0.1, 0.25, 0.5, 0.9, 0.999, 1.0])
def test_quantiles_of_counted_numbers(level):
    numbers = np.random.default_rng(5).integers(0, 40, 333)
    assert Counted.of(numbers).quantile(level) == pytest.approx(np.quantile(numbers, level), rel=1e-14)
    parts = Counted.of(numbers[:100]) + Counted.of(numbers[100:])
    assert parts.quantile(level) == Counted.of(numbers).quantile(level)
    wide = np.exp(np.random.default_rng(6).uniform(-300.0, 300.0, 3000))
    assert Counted.rounded(wide).quantile(level) == pytest.approx(np.quantile(wide, level), rel=0.5**BITS)
    small = np.arange(2049)
    assert np.array_equal(Counted.rounded(small).values, small)


@pytest.mark.parametrize(
    "numbers", [[1.0], [0.0, 0.0], [1.0, 1.0, 1.0], [5.0, 1.0, 1.0, 1.0], [3.0, 2.0, 1.0, 0.0]]
)
def test_half_of_counted_numbers(numbers):
    total = np.cumsum(sorted(numbers, reverse=True))
    assert Counted.of(np.array(numbers)).half() == int(np.searchsorted(total, 0.5 * total[-1])) + 1


@pytest.mark.parametrize("game", ["some", "own means"])
def test_neither_workers_nor_batches_nor_executors_make_a_difference(game, monkeypatch):
    one = play(game, keep="summary", workers=1)
    assert play(game, keep="summary", workers=3) == one
    with ThreadPoolExecutor(2) as pool:
        assert play(game, keep="summary", executor=pool, workers=2) == one
    monkeypatch.setattr(batches, "LARGEST_BATCH", 13)
    monkeypatch.setattr(batches, "LARGEST_CHUNK", 37)
    assert play(game, keep="summary", workers=2) == one


@pytest.mark.parametrize("game", ["some", "own means", "far"])
@pytest.mark.parametrize("cuts", [[250], [1, 300, 301, 699]])
def test_parts_are_merged_in_any_order_to_what_is_played_at_once(game, cuts):
    ends = [0, *cuts, RUNS]
    parts = [play(game, range(*pair), keep="summary") for pair in itertools.pairwise(ends)]
    order = np.random.default_rng(len(cuts)).permutation(len(parts))
    first, *others = [parts[place] for place in order]
    merged, whole = first.merge(*others), play(game, keep="summary")
    assert merged == whole
    for name in merged.meta.keys() | whole.meta.keys():
        assert name == "seconds" or merged.meta[name] == whole.meta[name]


@pytest.mark.parametrize("curves", [False, True])
@pytest.mark.parametrize("game", ["some", "own means"])
def test_single_runs_are_merged_to_what_is_played_at_once(game, curves):
    parts = [play(game, runs, curves=curves) for runs in (range(250, 300), range(250), range(300, RUNS))]
    merged, whole = parts[0].merge(*parts[1:]), play(game, curves=curves)
    for name, array in whole._arrays().items():
        found = merged._arrays()[name]
        if not curves and name in ("regret", "regret_sem"):
            assert np.allclose(found, array, rtol=1e-12, atol=0.0)
        else:
            assert np.array_equal(found, array)
    assert merged.meta["runs"] == RUNS
    assert merged.meta["entropy"] == whole.meta["entropy"]


def test_runs_of_other_seeds_are_merged():
    ask = {"policy": robai.EOCPUG(), "bandit": GAUSSIAN, "horizon": 1000, "runs": 50}
    for keep in ("runs", "summary"):
        one, other = (robai.simulate(**ask, rng=seed, keep=keep) for seed in (1, 2))
        both = one.merge(other)
        assert both.runs == 100
        assert both.meta["seeds"] == [[["1"], [], 0, 50], [["2"], [], 0, 50]]
        assert both.regret == pytest.approx((one.regret + other.regret) / 2)
        with pytest.raises(
            ValueError, match="others must have other runs or seeds, got runs 0 to 49 of seed 2"
        ):
            both.merge(other)


def test_what_does_not_belong_together_is_not_merged():
    first, more = play("some", range(20), keep="summary"), {"keep": "summary"}
    with pytest.raises(
        ValueError, match="others must have other runs or seeds, got runs 10 to 29 of seed 3 twice"
    ):
        first.merge(play("some", range(10, 30), **more))
    with pytest.raises(
        ValueError, match="others must go on where runs end, after runs 0 to 19 of seed 3, got 30"
    ):
        first.merge(play("some", range(30, 40), **more))
    policy, bandit, horizon = GAMES["some"]
    part = {"runs": range(20, 40), "rng": 3, "keep": "summary"}
    for name, other in {
        "policy": robai.simulate(robai.KLEOCPUG(guard=0.1), bandit, horizon, **part),
        "bandit": robai.simulate(policy, robai.Bernoulli([0.95, 0.8]), horizon, **part),
        "horizon": robai.simulate(policy, bandit, horizon + 1, **part, times=1),
        "engine": robai.simulate(policy, bandit, horizon, **part, engine="step"),
        "times": robai.simulate(policy, bandit, horizon, **part, times=3),
    }.items():
        with pytest.raises(ValueError, match=f"others must (have|be of) the same ({name}|label|times)"):
            first.merge(other)
    with pytest.raises(TypeError, match="others must be Summary objects"):
        first.merge(play("some", range(20, 40)))
    with pytest.raises(TypeError, match="others must be Result objects"):
        play("some", range(20)).merge(play("some", range(20, 40), keep="summary"))


@pytest.mark.parametrize(
    "runs", [range(0), range(-1, 5), range(5, 0, -1), range(0, 10, 2), range(2**53, 2**53 + 2)]
)
def test_ranges_of_runs_are_checked(runs):
    with pytest.raises(ValueError, match=r"runs must be a number, or a range .* got range"):
        play("some", runs)


def test_a_range_of_runs_is_a_part_of_more():
    for game in ("some", "own means"):
        part, whole = play(game, range(300, 310)), play(game, 310)
        for name in ("final_regret", "commit_time", "committed_arm", "pulls"):
            assert np.array_equal(getattr(part, name), getattr(whole, name)[300:])
        assert part.meta["first_run"] == 300
        assert "first_run" not in whole.meta
    ask = {"policy": robai.TTUCB(), "bandit": GAUSSIAN, "delta": 0.1, "rng": 0}
    parts = [robai.identify(**ask, runs=runs) for runs in (range(30), range(30, 50))]
    assert parts[1].merge(parts[0]) == robai.identify(**ask, runs=50)
    pairs = robai.Comparison(
        [play("never", range(10)), robai.simulate(robai.EOCPUG(), GAUSSIAN, 10**5, range(5, 15), rng=3)]
    )
    assert not pairs.difference("UCB()", "EOCPUG()").paired


@pytest.mark.parametrize("name", ["final_regret", "commit_time", "committed_arm", "committed", "pulls"])
def test_what_needs_single_runs_says_so(name):
    kept = play("some", 10, keep="summary")
    with pytest.raises(AttributeError, match=f"{name} is of single runs.*simulate with keep='runs'"):
        getattr(kept, name)
    for asked in (kept.pulls_by_rank, lambda: kept.to_dataframe("runs")):
        with pytest.raises(AttributeError, match="simulate with keep='runs'"):
            asked()
    for asked in (lambda: kept.quantiles(0.5), lambda: kept.slope(10)):
        with pytest.raises(ValueError, match="simulate with curves=True and keep='runs'"):
            asked()
    with pytest.raises(AttributeError, match="'Summary' object has no attribute 'nothing'"):
        _ = kept.nothing


def test_policies_are_compared_without_pairs():
    policies = [robai.EOCPUG(), robai.UCB()]
    kept = robai.compare(policies, GAUSSIAN, 10**4, RUNS, rng=0, keep="summary")
    runs = robai.compare(policies, GAUSSIAN, 10**4, RUNS, rng=0)
    found, free = kept.difference("UCB()", "EOCPUG()"), runs.difference("UCB()", "EOCPUG()", paired=False)
    assert not found.paired
    assert found == pytest.approx(free, rel=1e-9)
    with pytest.raises(AttributeError, match="final_regret is of single runs"):
        kept.difference("UCB()", "EOCPUG()", paired=True)
    assert kept.summary() == runs.summary()
    assert kept.table() == runs.table()
    assert "relative" in kept.table(baseline="UCB()")
    ours = robai.sweep(policies, GAUSSIAN, [100, 1000], 50, rng=0, keep="summary").to_dataframe()
    theirs = robai.sweep(policies, GAUSSIAN, [100, 1000], 50, rng=0).to_dataframe()
    columns = ["regret", "committed", "commit_time_mean", "wrong_commits", "best_arm_share"]
    assert np.allclose(ours[columns].astype(float), theirs[columns].astype(float), rtol=1e-12, equal_nan=True)


def test_figures_and_pages_need_no_runs(both, tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    runs, kept = both
    for draw in ("plot", "plot_commitment", "plot_tradeoff", "plot_pulls", "plot_final_regret"):
        axes = [getattr(each, draw)() for each in (runs, kept)]
        assert axes[0].get_xlabel() == axes[1].get_xlabel()
        assert axes[0].get_xlim() == pytest.approx(axes[1].get_xlim(), rel=0.01)
    plt.close("all")
    if kept.best_arm is not None:
        kept.plot_wrong_commit()
    kept.report(tmp_path / "page.html")
    assert "final_regret" not in (tmp_path / "page.html").read_text()
    assert kept.summary().splitlines()[0] == runs.summary().splitlines()[0]
    plt.close("all")


def test_files_and_pickles(both, tmp_path):
    _, kept = both
    kept.save(tmp_path / "kept.npz")
    assert robai.Summary.load(tmp_path / "kept.npz") == kept
    assert (tmp_path / "kept.npz").stat().st_size < 60_000
    assert pickle.loads(pickle.dumps(kept)) == kept
    with pytest.raises(ValueError, match="read-only"):
        kept.regret[0] = 1.0
    with pytest.raises(ValueError, match=r"format must be 'robai\.Result', got 'robai\.Summary'"):
        robai.Result.load(tmp_path / "kept.npz")
    pair = robai.Comparison([kept])
    pair.save(tmp_path / "pair.npz")
    assert robai.Comparison.load(tmp_path / "pair.npz")[kept.label] == kept


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("count", 11),
        ("count", 0),
        ("wrong", 3),
        ("ranked", True),
        ("regrets", 0),
        ("choices", [4, 6]),
        ("counted", lambda array: array[::-1].copy()),
        ("counts", lambda array: array + 1),
        ("sum_digits", lambda array: array * 0),
        ("sum_digits", lambda array: array[:-1].copy()),
        ("sum_digits", lambda array: array * 0 + 2**18 - 1),
        ("square_digits", lambda array: array * 0),
        ("square_digits", lambda array: array * 0 + 2**18 - 1),
        ("counts", lambda array: array * 0 + 2**62),
        ("square_digits", lambda array: array + 2**18),
        ("counted", lambda array: array * 1.1),
    ],
)
def test_numbers_that_cannot_be_are_refused(name, value):
    kept = robai.simulate(robai.EOCPUG(), robai.Gaussian([1, 0]), 1000, 10, rng=0, keep="summary", times=2)
    given = {field: getattr(kept, field) for field in (*kept.LAYOUT, *kept.SCALARS, "label", "meta")}
    assert robai.Summary(**given) == kept
    with pytest.raises(ValueError, match="must"):
        robai.Summary(**given | {name: value(given[name]) if callable(value) else value})


def test_curves_and_unknown_kinds_are_refused():
    with pytest.raises(ValueError, match="curves must be False with keep='summary'"):
        play("some", keep="summary", curves=True)
    with pytest.raises(ValueError, match="keep must be"):
        play("some", keep="sums")


def test_sums_that_the_memory_cannot_hold_are_refused():
    bandit = robai.Gaussian([1.0] + [0.0] * 99_999)
    with pytest.raises(ValueError, match=r"keep must be 'runs' .* 100,000 arms need .* GB with 4000 workers"):
        robai.simulate(robai.UCB(), bandit, 10**6, 10, rng=0, keep="summary", workers=4000)


def test_one_run_cannot_tell_its_error():
    kept = play("some", 1, keep="summary")
    assert np.isnan(kept.regret_sem).all()
    assert kept == play("some", 1, keep="summary")
    assert kept.merge(play("some", range(1, 9), keep="summary")) == play("some", 9, keep="summary")


def test_the_command_line_keeps_a_summary(tmp_path, capsys):
    from robai.cli import main

    ask = ["simulate", "--policy", "ucb", "--means", "1,0", "--horizon", "1e3", "--runs", "50", "--rng", "1"]
    assert main([*ask, "--keep", "summary", "--save", str(tmp_path / "kept.npz"), "--json"]) in (0, None)
    assert json.loads(capsys.readouterr().out)["runs"] == 50
    assert robai.Summary.load(tmp_path / "kept.npz").runs == 50
