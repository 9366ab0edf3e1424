"""`robai reproduce`: a publication's figures, tables and claims, as a report."""

import argparse
import sys
from itertools import groupby
from pathlib import Path

from robai._base.directory import replacing
from robai._base.progress import Line
from robai._base.text import painted, table
from robai.cli import options as _options
from robai.cli.options import path, whole
from robai.cli.output import to_json
from robai.paper import reproduction as _paper
from robai.paper.gallery import GALLERY
from robai.paper.kept import Kept
from robai.paper.page import GROWTH_ON_A_TERMINAL, growth_rows, headline
from robai.paper.report import summary, write_files
from robai.plotting.style import new_figure


def run(options: argparse.Namespace) -> int:
    if options.list:
        print(_listed(options.json))
        return 0
    study = next(iter(GALLERY.values()))
    out = options.out or "robai-report"
    if options.study is not None:
        study = GALLERY[_options.known("study", options.study, GALLERY, "robai reproduce --list")]
        out = options.out or f"robai-report-{study.name}"
    for part in options.only or ():
        _options.known(f"part of {study.name}", part, study.sections, "robai reproduce --list")
    new_figure(1, 1)  # what could fail after minutes of work fails now
    line, reproduction, page = Line(rewritten=sys.stderr.isatty()), None, None
    asked = {"quick": options.quick, "rng": options.rng, "workers": options.workers}
    kept = Kept.beside(out)
    try:
        with replacing(out) as directory:
            reproduction = _paper.reproduce(study, options.only, **asked, report=line.report, kept=kept)
            line.report("drawing the figures", True)
            write_files(reproduction, directory)
        page = Path(out) / "index.html"
        kept.clear()
        return 1 if any(verdict.result == "fails" for verdict in reproduction.verdicts) else 0
    finally:  # the disk may be full, but the numbers are there
        line.close()
        if page is None and (played := kept.count()):
            print(f"the same command goes on from {played} simulations in {kept.directory}", file=sys.stderr)
        if reproduction is not None and options.json:
            print(to_json(summary(reproduction) | {"page": page and str(page)}))
        elif reproduction is not None:
            _print(reproduction, page)


def _listed(as_json: bool) -> str:
    """The publications with their parts, the first of which is played if none is named."""
    if as_json:
        found = {
            name: {"title": each.title, "source": each.source, "parts": list(each.sections)}
            for name, each in GALLERY.items()
        }
        return to_json(found)
    lines = []
    for name, each in GALLERY.items():
        lines += [f"{name:<20}{each.source}", f"{'':<20}parts: {', '.join(each.sections)}"]
    return "\n".join(lines)


def _print(reproduction: _paper.Reproduction, page: Path | None) -> None:
    for played in reproduction.played(reproduction.study.figures):
        print(f"{played.name}: {played.results.summary()}\n")
    if (growing := reproduction.study.growing) and reproduction.growth:
        shown = growth_rows(growing, reproduction.growth)
        rows = [[row[name] for name in GROWTH_ON_A_TERMINAL] for row in shown]
        print("\n".join(table([GROWTH_ON_A_TERMINAL, *rows])) + "\n")
    verdicts = reproduction.verdicts
    for (claim, criterion), group in groupby(verdicts, key=lambda each: (each.claim, each.criterion)):
        print(painted("heading", f"{claim}: {criterion}"))
        for each in group:
            text = f"  {each.result:<14}{each.experiment:<16}{each.numbers}"
            print(painted("warning", text) if each.result == "fails" else text)
    if verdicts:
        print(f"\n{headline(verdicts)}")
    if page:
        print(f"\n{page}")


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("study", nargs="?", metavar="NAME", help="a publication, see --list (the paper of this package)")
    add("--list", action="store_true", help="the publications and their parts, and nothing else")
    add("--quick", action="store_true", help="a few hundred runs instead of the publication's thousands")
    add("--only", action="append", metavar="PART", help="a part; may be repeated (all)")
    add("--out", type=path, metavar="DIR", help="where to (robai-report, or robai-report-NAME)")
    add("--rng", type=whole, default=0, metavar="SEED", help="seed (0)")
    add("--workers", type=whole, metavar="N", help="threads (all cores)")
