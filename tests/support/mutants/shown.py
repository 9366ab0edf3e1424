"""Of figures, of the command line, of the pages about papers."""

from support.mutants.mutant import mutants

MUTANTS = [
    *mutants(
        "paper/claims.py",
        "paper/test_claims.py",
        ("'at most' is the rate", "percent(wrong.high)", "percent(wrong.rate)"),
    ),
    *mutants(
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
    *mutants(
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
    *mutants(
        "paper/experiments.py",
        "test_digest.py",
        ("'apart by' ignores the other's error", "math.hypot(mean.sem, theirs)", "mean.sem"),
        (
            "'like the scripts' is the other program",
            "other = column.get(",
            "other = next(iter(self.beside.values())).get(",
        ),
    ),
    *mutants(
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
    *mutants(
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
    *mutants(
        "paper/page.py",
        "paper/test_growth.py",
        ("T_c / log T with log10", "math.log(horizon) ** power", "math.log10(horizon) ** power"),
        ("T_c / log² T is T_c / log³ T", "_per_log(growth, 2)", "_per_log(growth, 3)"),
        ("the slope is the exponent", "_text(growth.slope)", "_text(growth.exponent)"),
    ),
    *mutants(
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
    *mutants(
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
    *mutants(
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
    *mutants(
        "cli/plan.py",
        "test_digest.py",
        ("95 % interval is one standard error", "normal_quantile(0.95) * mean.sem", "mean.sem"),
        ("a commitment of all runs", "if share < 1.0", "if share < 0.0"),
    ),
    *mutants(
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
    *mutants(
        "plotting/scaling.py",
        "plotting/test_drawn.py",
        ("error bars of scaling are not divided", "mean.sem / scale", "mean.sem"),
    ),
    *mutants(
        "plotting/rows.py",
        "plotting/test_drawn.py",
        ("5 % is 25 %", "draw([low, high]", "draw([quarter, high]"),
        ("the mean is the median", "draw([result.regret[-1]]", "draw([median]"),
        ("the rate is the lower end", "ax.plot([rate]", "ax.plot([low]"),
    ),
    *mutants(
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
    *mutants(
        "plotting/style.py",
        "plotting/test_drawn.py",
        ("commitment is of the runs that committed", "else digest.capped_time", "else digest.commit_time"),
    ),
    *mutants(
        "live/page.py",
        "live/test_report.py",
        ("every band is drawn", "if high - low <= widest else", "if True else"),
        (
            "bands are between other ends",
            "(_number(row.lower), _number(row.upper))",
            "(_number(row.lower), _number(row.mean))",
        ),
        (
            "shares are means",
            "[row.share for _, row in curves[arm]]",
            "[row.mean or 0.0 for _, row in curves[arm]]",
        ),
        ("the arms with the fewest rewards", "[arm][-1][1].pulls, reverse=True)", "[arm][-1][1].pulls)"),
        (
            "intervals are of one side",
            "low=[each.low for each in compared]",
            "low=[each.high for each in compared]",
        ),
    ),
    *mutants(
        "live/timeline.py",
        "live/test_report.py",
        ("the last event is left out", " or event.seq == last", ""),
        (
            "rounds are events",
            "found.happened.append(Happened(event.time, course.player.rounds, what))",
            "found.happened.append(Happened(event.time, course.seq, what))",
        ),
        (
            "a compacted course begins in the first round",
            'Happened(course.time, course.player.rounds, "compacted")',
            'Happened(course.time, 0, "compacted")',
        ),
    ),
    *mutants(
        "cli/live.py",
        "cli/test_live_commands.py",
        ("all pending rounds are due", "'+' * look.due", "'+'"),
    ),
    *mutants(
        "live/monitor.py",
        "cli/test_live_commands.py",
        ("the leader is the first arm with rewards", "row.mean or 0.0, default", "0.0, default"),
    ),
]
