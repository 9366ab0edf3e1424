"""Of what is played and reckoned with: live experiments, rules, theory."""

from support.mutants.mutant import mutants

MUTANTS = [
    *mutants(
        "theory/two_arms.py",
        "theory/test_two_arms.py",
        (
            "EOCP-UG's last pull is one too late",
            "k = np.floor(level * n) + 1.0\n        return (gap",
            "k = np.floor(level * n) + 2.0\n        return (gap",
        ),
        ("blocks count once too often", "np.diff(ends) *", "(1.0 + np.diff(ends)) *"),
    ),
    *mutants(
        "rules/threshold.py",
        "live/test_certificate.py",
        ("certificates of one rival", "family, game.n_arms - 1", "family, 1"),
        ("no price of an unknown variance", "found - math.log1p(found) if", "found if"),
    ),
    *mutants(
        "theory/predictions.py",
        "theory/test_predictions.py",
        ("the bar's second order", "2 * (bar - 0.5)", "2 * bar"),
    ),
    *mutants(
        "_play/arrivals.py",
        "play/test_late.py",
        ("a window is one round longer", "else self._closes,", "else self._closes + 1,"),
    ),
    *mutants(
        "rules/rounds.py",
        "test_field_regret.py",
        ("32 pi is 32", "math.log(32 * math.pi)", "math.log(32)"),
        ("ETC explores half", "math.log(2) + _log_lambert", "_log_lambert"),
    ),
    *mutants(
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
    *mutants(
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
    *mutants(
        "live/reasons.py",
        "live/test_agent_lead.py",
        ("the claim is the evidence", 'bar, f"{each.claim:,.1f}"', 'bar, f"{each.evidence:,.1f}"'),
        ("the bar of an arm in doubt is its evidence", "_finite(each.bar,", "_finite(each.evidence,"),
        ("pulls ahead are rounds", "_finite(each.pulls_ahead", "_finite(each.rounds_ahead"),
        ("what is asked of equal arms is the claim", "{each.bar:.4g} is", "{each.claim:.4g} is"),
    ),
    *mutants(
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
    *mutants(
        "live/differences.py",
        "live/test_differences.py",
        ("each difference has all of the error", "error / pairs", "error"),
        ("a smaller mean is called larger", '"larger" if each.low >', '"larger" if each.high <'),
    ),
    *mutants(
        "live/alarms.py",
        "live/test_alarms.py",
        ("looks add up to more than alpha", "alpha / (k * (k + 1))", "alpha * k"),
        ("the second half is all of it", "2.0 * self.mean - self.half", "self.mean"),
        ("the variance of halves is that of means", "4.0 * within / n", "within / n"),
        ("a degree of freedom too many", "len(counts) - 1)", "len(counts))"),
    ),
    *mutants(
        "live/monitor.py",
        "live/test_monitor.py",
        ("shares without pending", "(n + waiting + lost) / rounds", "(n + lost) / rounds"),
        ("lower and upper bounds are swapped", "lower, upper, state)", "upper, lower, state)"),
        ("pending of one arm", "int(agent.pending.sum())", "int(agent.pending.max())"),
        ("what is under way is not waited for", " or agent.pending.any()", ""),
        ("what the next call does is not known", " or not rules.stop.fires_on(now.evidence)", " or True"),
        (
            "the bars of the figure are symmetric",
            "for end in (row.lower, row.upper)",
            "for end in (row.lower, row.mean)",
        ),
    ),
    *mutants(
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
    *mutants(
        "theory/limits.py",
        "theory/test_limits.py",
        ("2.4 is 2", "-2 * log(2.4 * confidence)", "-2 * log(2.0 * confidence)"),
    ),
    *mutants(
        "theory/hardness.py",
        "theory/test_limits.py",
        ("T* is that of all costs together", "1 / costs.min()", "1 / costs.sum()"),
    ),
]
