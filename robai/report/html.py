"""A page of HTML in one file: headings, paragraphs, tables and pictures, with everything inline."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 70rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.8rem; margin-bottom: 0; } h2 { font-size: 1.35rem; margin-top: 3rem; }
h1, h2, h3 { line-height: 1.2; }
p, dd { max-width: 46rem; }
nav a { margin-right: 1em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.86rem; font-variant-numeric: tabular-nums; margin: 1rem 0; }
th, td { padding: 0.3rem 0.5rem; text-align: left; vertical-align: top; border-bottom: 1px solid #ddd; }
th { border-bottom: 2px solid #888; }
td.number, th.number { text-align: right; }
td.number, td.short { white-space: nowrap; }
td.holds { color: #00543c; white-space: nowrap; }
td.fails { color: #a33c00; font-weight: bold; white-space: nowrap; }
caption { text-align: left; color: #555; padding-bottom: 0.3rem; }
img { max-width: 100%; height: auto; } figure { margin: 1rem 0; }
figcaption { color: #555; max-width: 46rem; }
dt { font-weight: 600; margin-top: 0.8rem; } dd { margin-left: 0; }
"""

_SHORT = 18  # letters that are not worth a line break


class Section(NamedTuple):
    """A part of a page with a heading, and a link to it at the top."""

    name: str
    link: str
    heading: str
    parts: Sequence[str]


def page(title: str, introduction: Iterable[str], sections: Sequence[Section] = ()) -> str:
    links = "".join(f'<a href="#{escape(each.name)}">{escape(each.link)}</a>' for each in sections)
    parts = [f"<h1>{escape(title)}</h1>", *introduction, f"<nav>{links}</nav>"]
    for each in sections:
        parts += [f'<h2 id="{escape(each.name)}">{escape(each.heading)}</h2>', *each.parts]
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n" + "\n".join(parts) + "\n</body>\n</html>\n"
    )


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def picture(svg: bytes, text: str, caption: str) -> str:
    """A drawing as a data address: two of them in one page cannot mix up their identifiers."""
    data = base64.b64encode(svg).decode()
    image = f'<img alt="{escape(text)}" src="data:image/svg+xml;base64,{data}">'
    return f"<figure>{image}<figcaption>{escape(caption)}</figcaption></figure>"


def definitions(entries: Mapping[str, str]) -> str:
    pairs = "".join(f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>" for term, text in entries.items())
    return f"<dl>{pairs}</dl>"


def table(rows: Sequence[Mapping[str, str]], *, caption: str = "", numbers: Iterable[str] = ()) -> str:
    """A table of texts by the names of their columns.

    Columns in `numbers` are set to the right; "holds", "does not hold", "matched", "not matched" in colour.
    """
    right = set(numbers)
    marks = {"holds": "holds", "does not hold": "fails", "matched": "holds", "not matched": "fails"}

    def line(tag: str, cells: Iterable[tuple[str, str]]) -> str:
        written = ""
        for column, text in cells:
            kind = "number" if column in right else "short" if len(text) <= _SHORT else "text"
            written += f'<{tag} class="{marks.get(text, kind)}">{escape(text)}</{tag}>'
        return f"<tr>{written}</tr>"

    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    head = line("th", ((column, column) for column in rows[0]))
    body = "\n".join(line("td", row.items()) for row in rows)
    return f'<div class="wide"><table>{title}<thead>{head}</thead><tbody>{body}</tbody></table></div>'
