"""Lines that compute a number shown to people, what to break in them, and the test file that must notice."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """A change to the package that a test file must notice; `file` and `test` are below robai and tests."""

    about: str
    file: str
    old: str
    new: str
    test: str


def _mutants(file: str, test: str, *changes: tuple[str, str, str]) -> list[Mutant]:
    return [Mutant(about, file, old, new, test) for about, old, new in changes]


MUTANTS = [
    *_mutants(
        "paper/claims.py",
        "paper/test_claims.py",
        ("'at most' is the rate", "percent(wrong.high)", "percent(wrong.rate)"),
    ),
    *_mutants(
        "theory/two_arms.py",
        "theory/test_two_arms.py",
        (
            "EOCP-UG's last pull is one too late",
            "k = np.floor(level * n) + 1.0\n        return (gap",
            "k = np.floor(level * n) + 2.0\n        return (gap",
        ),
        ("blocks count once too often", "np.diff(ends) *", "(1.0 + np.diff(ends)) *"),
    ),
    *_mutants(
        "rules/threshold.py",
        "live/test_certificate.py",
        ("certificates of one rival", "family, game.n_arms - 1", "family, 1"),
        ("no price of an unknown variance", "found - math.log1p(found) if", "found if"),
    ),
    *_mutants(
        "theory/predictions.py",
        "theory/test_predictions.py",
        ("the bar's second order", "2 * (bar - 0.5)", "2 * bar"),
    ),
    *_mutants(
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
    *_mutants(
        "result/result.py",
        "test_digest.py",
        ("the rate of wrong commitments is of all runs", "count / committed, low", "count / self.runs, low"),
    ),
    *_mutants(
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
    *_mutants(
        "result/text.py",
        "play/test_late.py",
        (
            "rewards at the commitment are rounds",
            "result.answers[result.committed]",
            "result.commit_time[result.committed]",
        ),
        ("their mean is their median", "{answers.mean():,.0f}", "{np.median(answers):,.0f}"),
    ),
    *_mutants(
        "result/digest.py",
        "play/test_late.py",
        ("--json: rewards are rounds", "np.median(result.answers[", "np.median(result.commit_time["),
    ),
    *_mutants(
        "_play/arrivals.py",
        "play/test_late.py",
        ("a window is one round longer", "else self._closes,", "else self._closes + 1,"),
    ),
    *_mutants(
        "result/text.py",
        "test_instances.py",
        ("those not below what was told", "(smallest(result) < told", "(smallest(result) >= told"),
        ("divergences below what was told are gaps", '"told_kl", _divergences)', '"told_kl", _gaps)'),
    ),
    *_mutants(
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
    *_mutants(
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
    *_mutants(
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
    *_mutants(
        "rules/rounds.py",
        "test_field_regret.py",
        ("32 pi is 32", "math.log(32 * math.pi)", "math.log(32)"),
        ("ETC explores half", "math.log(2) + _log_lambert", "_log_lambert"),
    ),
    *_mutants(
        "rules/threshold.py",
        "test_thresholds.py",
        ("K - 1 is K", "(game.n_arms - 1) / delta)", "game.n_arms / delta)"),
        (
            "Ville's level for an unknown variance",
            "return _inverse(1.0 + level) - 1.0 if estimates(family) else level",
            "return level",
        ),
        (
            "one calibration for both arms",
            "_calibration(family)(level / 2.0)",
            "_calibration(family)(level)",
        ),
        ("g with twice its logarithm", "math.log(1 - share) / 2", "math.log(1 - share)"),
        ("zeta(2) is half", "math.pi**2 / 3)", "math.pi**2 / 6)"),
    ),
    *_mutants(
        "paper/claims.py",
        "paper/test_claims.py",
        (
            "the interval of the ratio lacks the other's mean",
            " / math.sqrt(len(own)) / float(other.mean())",
            " / math.sqrt(len(own))",
        ),
        ("a 95 % interval is one standard error", "normal_quantile(0.95) * float(", "float("),
        ("regret after a round, 10 % low", "value = 1.0 - before", "value = 0.9 - before"),
        ("the error of the rest is that of the end", "(float(result.regret_sem[place]) + ", "("),
    ),
    *_mutants(
        "paper/gallery/zhang_ying2023_claims.py",
        "paper/test_claims.py",
        (
            "'median' is the mean",
            "{np.median(each):,.0f}",
            "{np.mean(each):,.0f}",
        ),
        (
            "a round in the sentence is the mean",
            "np.median(_commit_times(commits))",
            "np.mean(_commit_times(commits))",
        ),
        (
            "a claim holds if its number does",
            "verdicts.within(interval, most=1e-3)",
            "verdicts.within(interval[:1] * 2, most=1e-3)",
        ),
        (
            "the ends of 'below' are swapped",
            "({100 * (1 - high):.1f} to {100 * (1 - low):.1f} %)",
            "({100 * (1 - low):.1f} to {100 * (1 - high):.1f} %)",
        ),
        (
            "commitments are of the runs that committed",
            "digest().capped_time.value",
            "digest().commit_time.value",
        ),
        ("'at most' is the smaller of the two", "bar = max(", "bar = min("),
    ),
    *_mutants(
        "paper/experiments.py",
        "test_digest.py",
        ("'apart by' ignores the other's error", "math.hypot(mean.sem, theirs)", "mean.sem"),
        (
            "'like the scripts' is the other program",
            "other = column.get(",
            "other = next(iter(self.beside.values())).get(",
        ),
    ),
    *_mutants(
        "paper/experiments.py",
        "paper/test_times.py",
        (
            "an unknown error is ours of however few runs",
            "mean.sem * math.sqrt(result.runs / self.runs)",
            "mean.sem",
        ),
        (
            "a share of ours",
            "self.ours.value / self.other.value - 1.0",
            "1.0 - self.other.value / self.ours.value",
        ),
        ("matched by one standard error", "normal_quantile(0.95) * self.sem", "self.sem"),
        ("matched though far in errors", "abs(self.errors) > 5.0", "abs(self.errors) > 50.0"),
    ),
    *_mutants(
        "paper/gallery/garivier2016.py",
        "paper/test_times.py",
        ("what is printed is ours", "for {apart.other.value", "for {apart.ours.value"),
        (
            "the lead is that of any",
            "verdicts.below(each.interval, 1.0)",
            "verdicts.below(each.interval, 2.0)",
        ),
        ("errors are those of the runs that stopped", "results[label].failure()", "results[label].error()"),
    ),
    *_mutants(
        "paper/page.py",
        "paper/test_growth.py",
        ("T_c / log T with log10", "math.log(horizon) ** power", "math.log10(horizon) ** power"),
        ("T_c / log² T is T_c / log³ T", "_per_log(growth, 2)", "_per_log(growth, 3)"),
        ("the slope is the exponent", "_text(growth.slope)", "_text(growth.exponent)"),
    ),
    *_mutants(
        "paper/growth.py",
        "paper/test_growth.py",
        (
            "the error of the exponent is that of one time",
            "math.hypot(first.sem / first.value, second.sem / second.value)",
            "first.sem / first.value",
        ),
        ("the error of the exponent is not scaled", "error / scale)", "error)"),
        ("slope per decade", "math.log(long.horizon / short", "math.log10(long.horizon / short"),
        ("wrong commitments of the other horizon", "short.wrong_commit()", "long.wrong_commit()"),
        ("log T more than doubles", "result.horizon**2 >= long", "result.horizon**3 >= long"),
    ),
    *_mutants(
        "live/reasons.py",
        "live/test_reasons.py",
        ("the imbalance names the smallest count", "seen.pulls[report.rival]}", "min(seen.pulls)}"),
        (
            "the likelihood ratio is what was asked",
            '"{value:.4g}, that against',
            '"{asked:.4g}, that against',
        ),
        (
            "the difference of the means is what was asked",
            "differed by {value:.4g}",
            "differed by {asked:.4g}",
        ),
        ("the bound of all others is the arm's own", "at most {asked:.4g} of", "at most {value:.4g} of"),
        (
            "DETC's fresh mean is that of all pulls",
            '(seen.sums[other] - memory["old_sum"]) / fresh',
            "seen.mean(other)",
        ),
        ("DETC's fresh pulls are all pulls", 'seen.pulls[other] - memory["old_pulls"]', "seen.pulls[other]"),
        ("'the best of them' is the worst", "max(others, key=seen.mean)", "min(others, key=seen.mean)"),
        ("rewards that arrived are those asked for", "{value:,.0f} rewards", "{asked:,.0f} rewards"),
        ("DETC-K's fresh mean is that of all pulls", "memory['mean']", "seen.mean(arm)"),
        (
            "DETC-K's fresh means are those of all pulls",
            'zip(seen.labels, memory["fresh_means"]',
            "zip(seen.labels, map(seen.mean, range(len(seen.pulls)))",
        ),
    ),
    *_mutants(
        "live/reasons.py",
        "live/test_agent_lead.py",
        ("the claim is the evidence", 'bar, f"{each.claim:,.1f}"', 'bar, f"{each.evidence:,.1f}"'),
        ("the bar of an arm in doubt is its evidence", "_finite(each.bar,", "_finite(each.evidence,"),
        ("pulls ahead are rounds", "_finite(each.pulls_ahead", "_finite(each.rounds_ahead"),
        ("what is asked of equal arms is the claim", "{each.bar:.4g} is", "{each.claim:.4g} is"),
    ),
    *_mutants(
        "rules/differences.py",
        "live/test_differences.py",
        ("an interval is of the certificate of one arm", "self._lost(0) + self._lost(1)", "self._lost(0)"),
        ("of Gaussian arms nothing is lost", "2.0 * asked + float(np.log1p(n).sum())", "2.0 * asked"),
        ("the lower end is the upper", "-self._above(1, 0, asked)", "-self._above(0, 1, asked)"),
        (
            "sigma of the first two arms",
            "family.sigma[arm] for arm in arms",
            "family.sigma[arm] for arm in (0, 1)",
        ),
    ),
    *_mutants(
        "live/differences.py",
        "live/test_differences.py",
        ("each difference has all of the error", "error / pairs", "error"),
        ("a smaller mean is called larger", '"larger" if each.low >', '"larger" if each.high <'),
    ),
    *_mutants(
        "live/alarms.py",
        "live/test_alarms.py",
        ("looks add up to more than alpha", "alpha / (k * (k + 1))", "alpha * k"),
        ("the second half is all of it", "2.0 * self.mean - self.half", "self.mean"),
        ("the variance of halves is that of means", "4.0 * within / n", "within / n"),
        ("a degree of freedom too many", "len(counts) - 1)", "len(counts))"),
    ),
    *_mutants(
        "live/monitor.py",
        "live/test_monitor.py",
        ("shares without pending", "(n + waiting) / max", "n / max"),
        ("lower and upper bounds are swapped", "lower, upper, state)", "upper, lower, state)"),
        ("pending of one arm", "int(agent.pending.sum())", "int(agent.pending.max())"),
        (
            "the bars of the figure are symmetric",
            "for end in (row.lower, row.upper)",
            "for end in (row.lower, row.mean)",
        ),
    ),
    *_mutants(
        "cli/plan.py",
        "cli/test_plan.py",
        (
            "identification rounds without log T",
            "theory.weights(bandit)[1] * math.log(horizon)",
            "theory.weights(bandit)[1]",
        ),
        (
            "a regret above T gap is printed",
            "worst, last = setting.horizon * max(",
            "worst, last = 1e9 * max(",
        ),
        (
            "the limit of a known gap is that of an unknown one",
            "theory.commit_limit_fixed(",
            "theory.commit_limit_adaptive(",
        ),
        ("Bernstein bounds need a third", "= 3 * length * level", "= length * level"),
        (
            "Bernstein bounds are for the largest gap",
            'level / given["gap"]',
            "level / max(bandit.gaps)",
        ),
    ),
    *_mutants(
        "cli/known.py",
        "cli/test_plan.py",
        (
            "EOCP-UG on average is the bound of high probability",
            "value = value.expected",
            "value = value.rounds",
        ),
        ("regret is its leading term", "value = value.total", "value = value.leading"),
        ("an error of two means with the variance of one", "/ (4 * self.sigma**2)", "/ (2 * self.sigma**2)"),
        ("the arm before the commitment costs nothing", "gap * (rounds / 2 + max(", "gap * (max("),
        ("T3C is as fast as Track-and-Stop", "rounds = 2 * theory.weights(", "rounds = theory.weights("),
    ),
    *_mutants(
        "cli/plan.py",
        "test_digest.py",
        ("95 % interval is one standard error", "normal_quantile(0.95) * mean.sem", "mean.sem"),
        ("a commitment of all runs", "if share < 1.0", "if share < 0.0"),
    ),
    *_mutants(
        "theory/bounds.py",
        "theory/test_theory.py",
        (
            "the deviation lacks its constant",
            "(sqrt(4 * pi * level) + 2) * harmonic",
            "sqrt(4 * pi * level) * harmonic",
        ),
        ("twice the leading term", "leading=2 * log(horizon)", "leading=4 * log(horizon)"),
        (
            "the late stop is twice as likely",
            "min(1.0, probability), rounds +",
            "min(1.0, 2 * probability), rounds +",
        ),
        ("half the wrong commitments of EOCP-UG", "2 * float(np.sum(errors))", "float(np.sum(errors))"),
    ),
    *_mutants(
        "theory/limits.py",
        "theory/test_limits.py",
        ("2.4 is 2", "-2 * log(2.4 * confidence)", "-2 * log(2.0 * confidence)"),
    ),
    *_mutants(
        "theory/hardness.py",
        "theory/test_limits.py",
        ("T* is that of all costs together", "1 / costs.min()", "1 / costs.sum()"),
    ),
    *_mutants(
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
    *_mutants(
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
    *_mutants(
        "plotting/curves.py",
        "plotting/test_drawn.py",
        (
            "the band is one standard error",
            "result.regret + z * result.regret_sem",
            "result.regret + result.regret_sem",
        ),
        (
            "the dot is at the mean",
            "median = result.digest().commit_median",
            "median = result.digest().commit_time.value",
        ),
        ("error bars of means are one standard error", "else z * mean.sem", "else mean.sem"),
        (
            "the share is of the runs that committed",
            "np.cumsum(times.counts) / runs",
            "np.cumsum(times.counts) / times.counts.sum()",
        ),
        ("'never' is the share that commits", "1.0 - result.digest().committed", "result.digest().committed"),
    ),
    *_mutants(
        "plotting/scaling.py",
        "plotting/test_drawn.py",
        ("error bars of scaling are not divided", "mean.sem / scale", "mean.sem"),
    ),
    *_mutants(
        "_base/counted.py",
        "test_keep_summary.py",
        ("numbers are cut off instead of rounded", "words + (1 << _DROPPED - 1)", "words"),
        ("quantiles are those of one more number", "(int(until[-1]) - 1)", "int(until[-1])"),
        ("half is a third", "rest = 0.5 * total[-1]", "rest = total[-1] / 3"),
        ("counts are of different numbers", "np.add.at(counts, place", "np.add.at(counts, place * 0"),
    ),
    *_mutants(
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
    *_mutants(
        "result/merging.py",
        "test_keep_summary.py",
        ("means are not weighted", "mean + apart * weight", "mean + apart / 2"),
        ("runs between parts are left out", "apart * apart * count * weight", "0.0"),
    ),
    *_mutants(
        "result/result.py",
        "test_digest.py",
        ("never counts half the horizon", "self.commit_time, self.horizon))", "self.commit_time, 500))"),
        ("the median is of all runs", "float(np.median(times))", "float(np.median(self.commit_time))"),
        ("shares are medians", "zip(shares.mean(axis=0)", "zip(np.median(shares, axis=0)"),
    ),
    *_mutants(
        "plotting/rows.py",
        "plotting/test_drawn.py",
        ("5 % is 25 %", "draw([low, high]", "draw([quarter, high]"),
        ("the mean is the median", "draw([result.regret[-1]]", "draw([median]"),
        ("the rate is the lower end", "ax.plot([rate]", "ax.plot([low]"),
    ),
    *_mutants(
        "plotting/identification.py",
        "plotting/test_identification_figures.py",
        ("the circle is at the median", "mean = each.time().mean", "mean = each.time().median"),
        ("error bars of shares are one standard error", "normal_quantile(0.95) * sem[order]", "sem[order]"),
        (
            "runs that did not stop are no failures",
            "[each.failure(confidence) for each in found]",
            "[each.error(confidence) for each in found]",
        ),
    ),
    *_mutants(
        "plotting/style.py",
        "plotting/test_drawn.py",
        ("commitment is of the runs that committed", "else digest.capped_time", "else digest.commit_time"),
    ),
]
