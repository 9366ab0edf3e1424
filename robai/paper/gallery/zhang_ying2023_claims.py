"""What Zhang and Ying say about their experiments."""

from collections.abc import Callable

from robai._base.text import percent
from robai.paper.claims import Check, Claim, regret_after, regret_ratio, regrets
from robai.result import Comparison, Result


def _commit_median(result: Result) -> float:
    """The median round of commitment; the horizon if no run commits."""
    median = result.digest().commit_median
    return result.horizon if median is None else median


CLAIMS: list[Claim] = []

_TWO = ("fig1-gaussian", "fig1-bernoulli")
_FOUR = ("fig2-gaussian", "fig2-bernoulli")


def _claim(text: str, criterion: str, experiments: tuple[str, ...]) -> Callable[[Check], Check]:
    def add(check: Check) -> Check:
        CLAIMS.append(Claim(text, criterion, experiments, check))
        return check

    return add


@_claim("EOCP reduces the final regret of UCB by 20 %", "at least 20 % below", _TWO + _FOUR)
def _below_ucb(results: Comparison) -> tuple[bool, str]:
    ratio, low, high = regret_ratio(results["EOCP"], results["UCB"])
    numbers = f"{100 * (1 - ratio):.1f} % below ({100 * (1 - high):.1f} to {100 * (1 - low):.1f} %)"
    return ratio <= 0.8, numbers


@_claim("EOCP and EOCP-UG stop exploring at approximately 1000 rounds", "median between 500 and 2000", _TWO)
def _near_a_thousand(results: Comparison) -> tuple[bool, str]:
    medians = {name: _commit_median(results[name]) for name in ("EOCP", "EOCP-UG")}
    numbers = ", ".join(f"{name} {median:,.0f}" for name, median in medians.items())
    return all(500 <= median <= 2000 for median in medians.values()), f"median {numbers}"


@_claim(
    "Not knowing the gap does little harm: EOCP-UG is close to EOCP",
    "regret at most 1.1 times EOCP's",
    _TWO + _FOUR,
)
def _gap_is_not_needed(results: Comparison) -> tuple[bool, str]:
    ratio, low, high = regret_ratio(results["EOCP-UG"], results["EOCP"])
    times = [results[name].digest().capped_time.value for name in ("EOCP-UG", "EOCP")]
    rounds = f"commitment at {times[0]:,.0f} and {times[1]:,.0f}"
    return ratio <= 1.1, f"regret {ratio:.3f} times ({low:.3f} to {high:.3f}), {rounds}"


def _above(*names: str) -> Check:
    def holds(results: Comparison) -> tuple[bool, str]:
        found = regrets(results)
        bar = max(found["EOCP"], found["UCB"])
        numbers = ", ".join(f"{name} {found[name]:.1f}" for name in names)
        return all(found[name] > bar for name in names), f"{numbers}; EOCP and UCB at most {bar:.1f}"

    return holds


_claim("BAI-ETC and DETC have a high regret", "above EOCP and UCB", _TWO)(_above("BAI-ETC", "DETC"))
_claim("TAS-ETC and DETC-K have a high regret with four arms", "above EOCP and UCB", _FOUR)(
    _above("TAS-ETC", "DETC-K")
)


@_claim("Action elimination has an even larger one", "the largest of all", _FOUR)
def _elimination_is_the_largest(results: Comparison) -> tuple[bool, str]:
    others = regrets(results)
    own = others.pop("Action elimination")
    return own > max(others.values()), f"{own:.1f}, others at most {max(others.values()):.1f}"


@_claim(
    "KL-EOCP and KL-UCB are much better on Bernoulli arms",
    "at most half the regret of EOCP and UCB",
    ("fig1-bernoulli", "fig2-bernoulli"),
)
def _kl_is_far_below(results: Comparison) -> tuple[bool, str]:
    ratios = {name: regret_ratio(results[f"KL-{name}"], results[name])[0] for name in ("EOCP", "UCB")}
    numbers = ", ".join(f"KL-{name} {percent(ratio)} of {name}" for name, ratio in ratios.items())
    return all(ratio <= 0.5 for ratio in ratios.values()), numbers


@_claim(
    "UCB over-explores: its regret grows when EOCP has committed",
    "at least 10 % of UCB's regret comes later, at most 1 % of EOCP's",
    _TWO + _FOUR,
)
def _ucb_goes_on(results: Comparison) -> tuple[bool, str]:
    rounds = _commit_median(results["EOCP"])
    ucb, eocp = (regret_after(results[name], rounds) for name in ("UCB", "EOCP"))
    return ucb >= 0.1 and eocp <= 0.01, (
        f"after round {rounds:,.0f}: UCB {100 * ucb:.1f} %, EOCP {100 * eocp:.2f} %"
    )


@_claim("The policies commit to the best arm in almost all runs", "wrong in at most 0.1 %", _TWO + _FOUR)
def _right_arm(results: Comparison) -> tuple[bool, str]:
    wrongs = {name: results[name].wrong_commit() for name in results if "EOCP" in name}
    numbers = "; ".join(
        f"{name} {wrong.count} of {wrong.committed:,}, at most {percent(wrong.high)}"
        for name, wrong in wrongs.items()
    )
    return all(wrong.rate <= 1e-3 for wrong in wrongs.values()), numbers
