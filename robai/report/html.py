"""A page of HTML in one file: tiles, cards, tables, figures and texts, with everything inline.

Nothing is fetched, which the page itself forbids. Without JavaScript everything but the figures can be read.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import NamedTuple

from robai._base.verdicts import Word
from robai.plotting.style import COLOURS, COLOURS_ON_DARK

_DARK = (
    "color-scheme: dark; --page: #101316; --surface: #15181c; --text: #e6e8ea; --muted: #a2a9b1; "
    "--line: #2a2f35; --strong: #4a525b; --good: #7bd8a0; --good-back: #16301f; --bad: #ff9d92; "
    "--bad-back: #3a1a17; --open: #f0c95c; --open-back: #332a10; --link: #7fbcf2; "
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
_SHORT = 36  # letters that are not worth a line break
_KINDS: Mapping[str, str] = {
    "holds": "holds",
    "fails": "fails",
    "not decided": "open",
    "matched": "holds",
    "not matched": "fails",
}


class Section(NamedTuple):
    """A part of a page with a heading, and a link to it at the top."""

    name: str
    link: str
    heading: str
    parts: Sequence[str]


def page(title: str, introduction: Iterable[str], sections: Sequence[Section] = (), *, lead: str = "") -> str:
    """`lead` is a sentence below the title."""
    links = "".join(f'<li><a href="#{escape(each.name)}">{escape(each.link)}</a></li>' for each in sections)
    nav = f'<nav aria-label="Sections"><ul>{links}</ul></nav>' if sections else ""
    parts = [
        f'<section aria-labelledby="{escape(each.name)}">\n<h2 id="{escape(each.name)}">'
        f"{escape(each.heading)}</h2>\n" + "\n".join(each.parts) + "\n</section>"
        for each in sections
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{escape(title)} - robai</title>\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<style>{_style()}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#main">Skip to the text</a>\n'
        '<div class="bar"><p class="brand">robai</p>'
        '<button id="theme" type="button" hidden>dark</button></div>\n'
        f"<header><h1>{escape(title)}</h1>{paragraph(lead, 'lead') if lead else ''}</header>\n{nav}\n"
        '<main id="main">\n'
        + "\n".join([*introduction, *parts])
        + '\n</main>\n<p id="tip" role="tooltip" hidden></p>\n'
        f"<script>{_asset('uPlot.iife.min.js')}</script>\n<script>{_asset('page.js')}</script>\n"
        "</body>\n</html>\n"
    )


def _asset(name: str) -> str:
    return (files("robai.report") / "assets" / name).read_text(encoding="utf-8")


def _style() -> str:
    light, dark = (
        " ".join(f"--c{place}: {colour};" for place, colour in enumerate(colours))
        for colours in (COLOURS, COLOURS_ON_DARK)
    )
    return (
        f"{_asset('uPlot.min.css')}\n{_asset('page.css')}\n:root {{ {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root:not([data-theme=light]) {{ {_DARK}{dark} }} }}\n"
        f":root[data-theme=dark] {{ {_DARK}{dark} }}\n"
    )


def paragraph(text: str, kind: str = "") -> str:
    return f"<p{_class(kind)}>{prose(text)}</p>"


def prose(text: str) -> str:
    """Escaped, and without line breaks between numbers and their signs."""
    return escape(text).replace(" %", "\N{NO-BREAK SPACE}%").replace(" ±", "\N{NO-BREAK SPACE}±")


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


class Tile(NamedTuple):
    """A number, or a word, to be seen first; `kind` is a verdict, "text" for words, or "none"."""

    value: str
    label: str
    kind: str = ""


def tiles(listed: Iterable[Tile]) -> str:
    shown = list(listed)
    items = "".join(
        f'<li class="tile {_KINDS.get(kind, kind)}"><b>{prose(value)}</b><span>{prose(label)}</span></li>'
        for value, label, kind in shown
    )
    words = any(tile.kind == "text" for tile in shown)
    return f'<ul class="tiles{" wide" * words}">{items}</ul>'


def badge(word: str) -> str:
    return f'<span class="badge {_KINDS[word]}">{escape(word)}</span>'


class Finding(NamedTuple):
    """Whether something holds somewhere, and the numbers."""

    word: Word
    where: str
    section: str
    numbers: str


def card(title: str, note: str, findings: Iterable[Finding]) -> str:
    """A statement, and what was found of it."""
    items = "".join(
        f'<li>{badge(each.word)}<a href="#{escape(each.section)}">{escape(each.where)}</a>'
        f"<span>{prose(each.numbers)}</span></li>"
        for each in findings
    )
    return f'<article class="card"><h3>{escape(title)}</h3><p>{prose(note)}</p><ul>{items}</ul></article>'


def cards(made: Iterable[str]) -> str:
    return f'<div class="cards">{"".join(made)}</div>'


def beside(figures: Iterable[str]) -> str:
    """Figures in two columns, where there is room for them."""
    return f'<div class="two">{"".join(figures)}</div>'


def folded(title: str, parts: Iterable[str]) -> str:
    return f"<details><summary>{escape(title)}</summary>{''.join(parts)}</details>"


def links(addresses: Mapping[str, str]) -> str:
    """Files beside the page, by what they are called."""
    items = "".join(f'<li><a href="{escape(to)}">{escape(name)}</a></li>' for name, to in addresses.items())
    return f'<ul class="links">{items}</ul>' if items else ""


def definitions(entries: Mapping[str, str]) -> str:
    pairs = "".join(f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>" for term, text in entries.items())
    return f"<dl>{pairs}</dl>"


def table(
    rows: Sequence[Mapping[str, str]],
    *,
    caption: str = "",
    numbers: Iterable[str] = (),
    about: Mapping[str, str] | None = None,
) -> str:
    """A table of texts by the names of their columns, which is sorted when a title is pressed.

    Columns in `numbers` are set to the right; `about` explains columns where they stand. Verdicts are badges.
    """
    right, explained = set(numbers), about or {}

    def head(column: str) -> str:
        more = ""
        if text := explained.get(column):
            name = f"What “{column}” means"
            more = (
                f'<button type="button" class="about" aria-label="{escape(name)}" aria-describedby="tip" '
                f'title="{escape(text)}" data-about="{escape(text)}">?</button>'
            )
        kind = _class("number" if column in right else "")
        return f'<th scope="col"{kind}><span class="label">{escape(column)}</span>{more}</th>'

    def cell(place: int, column: str, text: str) -> str:
        if place == 0:
            return f'<th scope="row">{escape(text)}</th>'
        kind = "number" if column in right else "short" if len(text) <= _SHORT else "text"
        return f'<td class="{kind}">{badge(text) if text in _KINDS else escape(text)}</td>'

    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    body = "\n".join(
        "<tr>" + "".join(cell(place, *each) for place, each in enumerate(row.items())) + "</tr>"
        for row in rows
    )
    return (
        f'<div class="table" tabindex="0" role="region" aria-label="{escape(caption) or "table"}">'
        f'<table class="sortable">{title}<thead><tr>{"".join(map(head, rows[0]))}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
