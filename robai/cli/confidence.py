"""`robai confidence`: how likely policies are to commit to a wrong arm."""

import argparse
import io
import math
import sys
from pathlib import Path
from typing import Any

from robai._base import checks
from robai._base.files import check_writable, write_atomically
from robai._base.text import percent, table
from robai._play.seeds import Seed
from robai.bandits import Bandit
from robai.cli import options as _options
from robai.cli.options import path, whole
from robai.cli.output import to_json
from robai.confidence import NotCovered, WrongCommitEstimate, wrong_commit
from robai.plotting import plot_confidence
from robai.plotting.style import new_figure
from robai.policies.base import BasePolicy

_NUMBERS = ("probability", "relative_error", "low", "high", "effective_runs", "largest_share", "scaled")


def add_options(parser: argparse.ArgumentParser) -> None:
    game = _options.add_game_options(parser, several=True)
    game("--horizon", type=_wholes, required=True, metavar="T,T,...", help="rounds, one number or several")
    add = parser.add_argument_group("how it is estimated").add_argument
    add("--relative-error", type=float, default=0.02, metavar="X", help="to be reached (0.02)")
    add("--max-runs", type=whole, default=10**7, metavar="N", help="for one estimate (1e7)")
    add("--rng", type=whole, metavar="SEED", help="seed (a fresh one)")
    add("--workers", type=whole, metavar="N", help="threads (all cores)")
    out = parser.add_argument_group("what is written").add_argument
    out("--plot", type=path, metavar="FILE", help="draw T x wrong to a .png, .svg or .pdf file")
    _options.add_policy_options(parser)


def _wholes(text: str) -> list[int]:
    return [whole(each) for each in text.split(",")]


def run(options: argparse.Namespace) -> None:
    policies = _options.read_policies(options.policy, options)
    bandit = _options.read_bandit(options)
    if options.plot:
        check_writable(options.plot)
        new_figure(1, 1)  # is Matplotlib there?
        checks.one_of("the end of --plot", Path(options.plot).suffix.lower(), (".pdf", ".png", ".svg"))
    seed = Seed.of(None).entropy[0] if options.rng is None else options.rng
    found = [
        _found(policy, bandit, horizon, options, seed) for policy in policies for horizon in options.horizon
    ]
    drawn = [estimate for estimate, refused in found if not refused]
    if options.plot and drawn:
        figure, buffer = new_figure(7.5, 4.5), io.BytesIO()
        plot_confidence(drawn, figure.subplots())
        figure.savefig(buffer, format=Path(options.plot).suffix[1:].lower(), dpi=150)
        write_atomically(options.plot, buffer.getvalue())
    if options.json:
        print(to_json([_record(*each) for each in found]))
        return
    rows = [("policy", "horizon", "wrong", "95 % interval", "T x wrong", "runs", "")]
    print("\n".join([f"{bandit!r}", "", *table(rows + [_row(*each) for each in found])]))
    if options.rng is None:
        print(f"\nto repeat: --rng {seed}")


def _found(
    policy: BasePolicy, bandit: Bandit, horizon: int, options: argparse.Namespace, seed: int
) -> tuple[WrongCommitEstimate, str]:
    """An estimate, and why it is refused, if it is."""
    try:
        found = wrong_commit(
            policy,
            bandit,
            horizon,
            relative_error=options.relative_error,
            rng=seed,
            workers=options.workers,
            max_runs=options.max_runs,
            progress=sys.stderr.isatty(),
        )
    except NotCovered as error:
        return error.estimate, str(error)
    return found, ""


def _row(found: WrongCommitEstimate, refused: str) -> tuple[str, ...]:
    numbers = f"{found.probability:.3g}", f"{found.low:.3g} to {found.high:.3g}", f"{found.scaled:.3g}"
    error = percent(found.relative_error) if math.isfinite(found.relative_error) else "-"
    shown = ("-", "-", "-") if refused else numbers
    remark = f"refused: {refused}" if refused else f"relative error {error}"
    return found.policy, f"{found.horizon:,}", *shown, f"{found.runs:,}", remark


def _record(found: WrongCommitEstimate, refused: str) -> dict[str, Any]:
    """Numbers are null where there are none."""
    numbers = {name: getattr(found, name) for name in _NUMBERS}
    return {
        "policy": found.policy,
        "bandit": found.bandit,
        "horizon": found.horizon,
        **{name: value if math.isfinite(value) else None for name, value in numbers.items()},
        "runs": found.runs,
        "hits": found.hits,
        "refused": refused or None,
        "rng": str(found.entropy[0]),
    }
