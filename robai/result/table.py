"""Tables of results: as text, for Markdown and LaTeX, and as plain numbers."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from robai._base import checks
from robai._base.text import align, decimals, percent, printable
from robai.result.analysis import difference, relative
from robai.result.text import mean_text

if TYPE_CHECKING:
    from robai.result.digest import Digest
    from robai.result.result import Result

Column = Literal["regret", "commitment", "wrong", "relative", "runs"]
Format = Literal["text", "markdown", "latex", "csv"]

_MINUS = "\N{MINUS SIGN}"
_LATEX = {each: f"\\{each}" for each in "&%$#_{}"}
_LATEX |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_LATEX |= {"<": "$<$", ">": "$>$", "|": "$|$", "±": r"$\pm$", _MINUS: "$-$"}


def table(
    results: list[Result], columns: Sequence[Column] | None, format: Format, baseline: str | None
) -> str:
    """As `Comparison.table`."""
    checks.one_of("format", format, get_args(Format))
    if isinstance(columns, str):
        raise TypeError(f"columns must be a sequence of names, got {columns!r}")
    if columns is None:
        columns = ("regret", "commitment", "wrong", *(() if baseline is None else ("relative",)))
    names = [checks.one_of("columns", each, get_args(Column)) for each in columns]
    base = results[0]
    if baseline is not None:
        labels = {result.label: result for result in results}
        base = labels[checks.one_of("baseline", baseline, labels)]
    best = _best(results)
    if format == "csv":
        return _csv(results, names, base, best)
    digests = [result.digest() for result in results]
    titles = ["policy", *(_title(name, base) for name in names)]
    rows = [
        [printable(result.label), *(_CELLS[name](result, digest, base) for name in names)]
        for result, digest in zip(results, digests, strict=True)
    ]
    bold = [1 + place for place, name in enumerate(names) if name == "regret"]
    return _WRITERS[format](titles, rows, [(i, j) for i in best for j in bold])


def _best(results: list[Result]) -> list[int]:
    """The places of the smallest mean regret and of all that cannot be told from it."""
    means = [result.regret[-1] for result in results]
    first = results[int(np.argmin(means))]
    found = (difference(result, first, "regret", "auto", 0.95) for result in results)
    # Not above: with one run nothing is known, and everything may be best.
    return [place for place, each in enumerate(found) if not each.low > 0.0]


def _title(name: str, base: Result) -> str:
    titles = {
        "regret": "regret",
        "commitment": "commitment, median (90 %)",
        "wrong": "wrong commitments (95 % interval)",
        "relative": f"regret relative to {printable(base.label)} (95 % interval)",
        "runs": "runs",
    }
    return titles[name]


def _regret(result: Result, digest: Digest, base: Result) -> str:
    return mean_text(digest.regret)


def _commitment(result: Result, digest: Digest, base: Result) -> str:
    if digest.commit_median is None:
        return "never"
    never = 1.0 - digest.committed
    late = f"{digest.commit_median:,.0f} ({_ninety(result):,.0f})"
    return late + (f", {percent(never)} never" if never > 0.0 else "")


def _ninety(result: Result) -> float:
    return result._commit_times().quantile(0.9)


def _wrong(result: Result, digest: Digest, base: Result) -> str:
    wrong = digest.wrong
    return "-" if wrong is None else f"{percent(wrong.rate)} ({percent(wrong.low)} to {percent(wrong.high)})"


def _relative(result: Result, digest: Digest, base: Result) -> str:
    if result is base or base.regret[-1] == 0.0:
        return "-"
    found = relative(result, base)
    if math.isnan(found.sem):
        return _signed(found.mean, 1)
    digits = decimals(100.0 * found.sem, 2) if found.sem > 0.0 else 1
    return f"{_signed(found.mean, digits)} ({_signed(found.low, digits)} to {_signed(found.high, digits)})"


def _signed(share: float, digits: int) -> str:
    return f"{100.0 * share:+,.{digits}f} %".replace("-", _MINUS)


def _runs(result: Result, digest: Digest, base: Result) -> str:
    return f"{result.runs:,}"


_CELLS: dict[str, Callable[[Result, Digest, Result], str]] = {
    "regret": _regret,
    "commitment": _commitment,
    "wrong": _wrong,
    "relative": _relative,
    "runs": _runs,
}


Rows = list[list[str]]
Bold = list[tuple[int, int]]


def _text(titles: list[str], rows: Rows, bold: Bold) -> str:
    marked = sorted({j for _, j in bold})
    shown = [
        [cell + (" *" if (i, j) in bold else "  ") * (j in marked) for j, cell in enumerate(row)]
        for i, row in enumerate(rows)
    ]
    notes = ["", "* smallest mean regret, and all not told from it at 95 %"] if marked else []
    return "\n".join([*align([titles, *shown]), *notes])


def _markdown(titles: list[str], rows: Rows, bold: Bold) -> str:
    def cell(text: str) -> str:
        return "".join(f"\\{each}" if each in "\\|*_`<>[]#~" else each for each in text)

    lines = [[cell(title) for title in titles], ["---", *["---:"] * (len(titles) - 1)]]
    for i, row in enumerate(rows):
        lines.append([f"**{cell(text)}**" if (i, j) in bold else cell(text) for j, text in enumerate(row)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _latex(titles: list[str], rows: Rows, bold: Bold) -> str:
    def cell(text: str) -> str:
        return "".join(_LATEX.get(each, each) for each in text)

    body = [
        " & ".join(
            rf"\textbf{{{cell(text)}}}" if (i, j) in bold else cell(text) for j, text in enumerate(row)
        )
        for i, row in enumerate(rows)
    ]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{l{'r' * (len(titles) - 1)}}}",
            r"\toprule",
            " & ".join(map(cell, titles)) + r" \\",
            r"\midrule",
            *(f"{line} \\\\" for line in body),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


_WRITERS: dict[str, Callable[[list[str], Rows, Bold], str]] = {
    "text": _text,
    "markdown": _markdown,
    "latex": _latex,
}


def _csv(results: list[Result], names: Sequence[str], base: Result, best: list[int]) -> str:
    """Every number in full, in a column of its own; nothing where there is nothing to say."""
    import csv  # which `import robai` can do without

    rows = [_numbers(result, names, base, place in best) for place, result in enumerate(results)]
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def _numbers(result: Result, names: Sequence[str], base: Result, best: bool) -> dict[str, Any]:
    digest = result.digest()
    row: dict[str, Any] = {"policy": printable(result.label)}
    for name in names:
        if name == "regret":
            known = not math.isnan(digest.regret.sem)
            row |= {"regret": digest.regret.value, "regret_sem": digest.regret.sem if known else None}
            row["best"] = int(best)
        elif name == "commitment":
            late = None if digest.commit_median is None else _ninety(result)
            row |= {"committed": digest.committed, "commit_median": digest.commit_median, "commit_90": late}
        elif name == "wrong":
            fields = ("count", "rate", "low", "high")
            row |= {f"wrong_{each}": digest.wrong and getattr(digest.wrong, each) for each in fields}
        elif name == "relative":
            told = result is not base and base.regret[-1] > 0.0
            found = relative(result, base) if told else None
            shown = {"relative": "mean", "relative_low": "low", "relative_high": "high"}
            row |= {title: found and getattr(found, each) for title, each in shown.items()}
        else:
            row["runs"] = result.runs
    return row
