"""Of results: summaries, comparisons, tables, files."""

from support.mutants.mutant import mutants

MUTANTS = [
    *mutants(
        "result/digest.py",
        "test_digest.py",
        ("the 95 % quantile is that of 90 %", "0.75, 0.95)", "0.75, 0.90)"),
        ("the standard error of the last but one round", "result.regret_sem[-1]", "result.regret_sem[-2]"),
        (
            "the standard error is the deviation",
            "values.std(ddof=1) / math.sqrt(len(values))",
            "values.std()",
        ),
        ("the deviation is that of all there is", "values.std(ddof=1)", "values.std(ddof=0)"),
        (
            "--json: the median is the mean",
            'digest.commit_median,\n        "wrong',
            'digest.commit_time.value,\n        "wrong',
        ),
        (
            "--json: committed of half the runs",
            '"committed": digest.committed',
            '"committed": 2 * digest.committed',
        ),
        ("--json: low is high", "digest.wrong.low,", "digest.wrong.high,"),
        ("--json: the count is of those that committed", "digest.wrong.count,", "digest.wrong.committed,"),
    ),
    *mutants(
        "result/result.py",
        "test_digest.py",
        ("the rate of wrong commitments is of all runs", "count / committed, low", "count / self.runs, low"),
    ),
    *mutants(
        "result/arrays.py",
        "test_instances.py",
        (
            "ranks are from the worst arm on",
            "np.argsort(np.broadcast_to(gaps",
            "np.argsort(np.broadcast_to(-gaps",
        ),
        (
            "the smallest gap is that of the best arm",
            "np.partition(gaps, 1, axis=-1)[..., 1]",
            "gaps.min(axis=-1)",
        ),
        (
            "complexity is the sum of 1/gap",
            "np.square(np.sort(gaps, axis=-1)[..., 1:])",
            "np.sort(gaps)[..., 1:]",
        ),
        ("a run with two best arms has one", "gaps.argmin(axis=1), -1)", "gaps.argmin(axis=1), 0)"),
    ),
    *mutants(
        "result/text.py",
        "play/test_late.py",
        (
            "rewards at the commitment are rounds",
            "result.answers[result.committed]",
            "result.commit_time[result.committed]",
        ),
        ("their mean is their median", "{answers.mean():,.0f}", "{np.median(answers):,.0f}"),
    ),
    *mutants(
        "result/digest.py",
        "play/test_late.py",
        ("--json: rewards are rounds", "np.median(result.answers[", "np.median(result.commit_time["),
    ),
    *mutants(
        "result/text.py",
        "test_instances.py",
        ("those not below what was told", "(smallest(result) < told", "(smallest(result) >= told"),
        ("divergences below what was told are gaps", '"told_kl", _divergences)', '"told_kl", _gaps)'),
    ),
    *mutants(
        "result/text.py",
        "test_digest.py",
        (
            "'on average' is the median",
            "{digest.commit_time.value:,.0f} on",
            "{digest.commit_median:,.0f} on",
        ),
        (
            "'wrong in' counts the runs that never committed",
            "{digest.wrong.count:,} of {count",
            "{result.runs - count:,} of {count",
        ),
        (
            "'median at' is the mean",
            'else f"{digest.commit_median:,.0f}"',
            'else f"{digest.commit_time.value:,.0f}"',
        ),
        ("'half below' is the third quarter", "low, _, median, _, high", "low, _, _, median, high"),
        ("committed is the share that did not", "percent(digest.committed)", "percent(1 - digest.committed)"),
        (
            "the interval of a count is its rate",
            '{percent(wrong.low)} to {percent(wrong.high)}"\n\n\ndef _wrong',
            '{percent(wrong.rate)} to {percent(wrong.high)}"\n\n\ndef _wrong',
        ),
    ),
    *mutants(
        "result/identification.py",
        "test_identification.py",
        ("errors are of all runs", "int(self.finished.sum()), confidence)", "self.runs, confidence)"),
        ("a run that did not stop is no failure", "+ self.unfinished, self.runs", ", self.runs"),
        ("90 % is 95 %", "(0.1, 0.5, 0.9)", "(0.1, 0.5, 0.95)"),
        ("kl(delta, 1 - delta) lacks a delta", "1.0 - 2.0 * delta", "1.0 - delta"),
        ("T* log10(1/delta)", "-time * math.log(delta)", "-time * math.log10(delta)"),
        (
            "shares are of the mean time",
            "np.maximum(self.stopping_time, 1)[:, np.newaxis]",
            "self.stopping_time.mean()",
        ),
    ),
    *mutants(
        "result/identification_text.py",
        "test_identification.py",
        (
            "'10 % stopped by' is 90 %",
            "(time.early, time.median, time.late))\n",
            "(time.late, time.median, time.early))\n",
        ),
        ("the median over the lower bound", "time.mean / complexity.lower", "time.median / complexity.lower"),
        ("the interval of a count is its rate", "({percent(low)} to", "({percent(rate)} to"),
        ("the median of a row is the mean", "_quantile(found, time.median)", "_quantile(found, time.mean)"),
        ("the interval of a row is its rate", "({percent(error.low)} to", "({percent(error.rate)} to"),
        ("--json: errors are failures", '"error_high": error.high', '"error_high": failure.high'),
    ),
    *mutants(
        "result/analysis.py",
        "test_analysis.py",
        ("the interval is one standard error", "mean - z * sem", "mean - sem"),
        ("pairs are taken as independent", "    if paired:\n        sem", "    if not paired:\n        sem"),
        ("a ratio has the error of a difference", '"regret", ratio, pairs', '"regret", 1.0, pairs'),
        ("the area is not divided", "/ (times[-1] - times[0])", "/ times[-1]"),
        (
            "the slope is that of log10",
            "return np.log(result.times[rows])",
            "return np.log10(result.times[rows])",
        ),
        ("the error of a log slope is that of the regret", "(curves / mean) @ weights", "curves @ weights"),
    ),
    *mutants(
        "result/table.py",
        "test_table.py",
        ("all that is above is best", "if not each.low > 0.0", "if not each.high > 0.0"),
        ("90 % is 95 %", "_commit_times().quantile(0.9)", "_commit_times().quantile(0.95)"),
        (
            "an interval is that of the count",
            "percent(wrong.rate)} ({percent(wrong.low)}",
            "percent(wrong.rate)} ({percent(wrong.rate)}",
        ),
    ),
    *mutants(
        "_base/counted.py",
        "test_keep_summary.py",
        ("numbers are cut off instead of rounded", "words + (1 << _DROPPED - 1)", "words"),
        ("quantiles are those of one more number", "(int(until[-1]) - 1)", "int(until[-1])"),
        ("half is a third", "rest = 0.5 * total[-1]", "rest = total[-1] / 3"),
        ("counts are of different numbers", "np.add.at(counts, place", "np.add.at(counts, place * 0"),
    ),
    *mutants(
        "result/totals.py",
        "test_keep_summary.py",
        ("the error is the deviation", "(count * count * (count - 1)", "(count * (count - 1)"),
        ("the deviation is that of all there is", "* count * (count - 1)", "* count * count"),
        (
            "never counts as 0",
            "np.where(committed, commit_time, horizon)",
            "np.where(committed, commit_time, 0)",
        ),
        (
            "right commitments are counted",
            "np.count_nonzero(chosen > 0.0)",
            "np.count_nonzero(chosen == 0.0)",
        ),
    ),
    *mutants(
        "result/merging.py",
        "test_keep_summary.py",
        ("means are not weighted", "mean + apart * weight", "mean + apart / 2"),
        ("runs between parts are left out", "apart * apart * count * weight", "0.0"),
    ),
    *mutants(
        "result/result.py",
        "test_digest.py",
        ("never counts half the horizon", "self.commit_time, self.horizon))", "self.commit_time, 500))"),
        ("the median is of all runs", "float(np.median(times))", "float(np.median(self.commit_time))"),
        ("shares are medians", "zip(shares.mean(axis=0)", "zip(np.median(shares, axis=0)"),
    ),
]
