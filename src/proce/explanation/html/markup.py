"""Pieces of a page: everything that is not markup of ours is escaped."""

from collections.abc import Iterable, Sequence
from html import escape

from proce.explanation.words.values import one_line


def text(words: str) -> str:
    """Return words for a page: escaped, on one line, without control characters."""
    return escape(one_line("".join(c for c in words if c.isprintable() or c.isspace())))


def paragraph(words: str, look: str = "") -> str:
    """Return a paragraph."""
    return f"<p{_class(look)}>{text(words)}</p>"


def listed(lines: Iterable[str], look: str = "", ordered: bool = False) -> str:
    """Return a list, nothing where there are no lines."""
    items = "".join(f"<li>{text(line)}</li>" for line in lines)
    tag = "ol" if ordered else "ul"
    return f"<{tag}{_class(look)}>{items}</{tag}>" if items else ""


def table(
    caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: str = ""
) -> str:
    """Return a table that scrolls by itself where it is wider than the page.

    Parameters
    ----------
    caption
        What it shows.
    heads
        Of its columns.
    rows
        Of texts; the first of each names the row. Markup of ours is handed over as
        :class:`Markup`.
    numbers
        A letter for each column, ``n`` where it holds numbers.
    """
    looks = ["number" if kind == "n" else "" for kind in numbers.ljust(len(heads))[: len(heads)]]
    head = "".join(
        f'<th scope="col"{_class(look)}>{text(each)}</th>'
        for each, look in zip(heads, looks, strict=True)
    )
    body = "".join(f"<tr>{_line(row, looks)}</tr>" for row in rows)
    inside = (
        f"<caption>{text(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    )
    return scrolled(f"<table>{inside}</table>", caption)


def scrolled(inside: str, label: str) -> str:
    """Return a part that scrolls sideways by itself, also by keyboard."""
    return f'<div class="wide" role="group" tabindex="0" aria-label="{text(label)}">{inside}</div>'


def figure(picture: str, caption: str) -> str:
    """Return a picture with its caption."""
    return f"<figure>{scrolled(picture, caption)}<figcaption>{text(caption)}</figcaption></figure>"


def folded(summary: str, inside: str) -> str:
    """Return what is folded away until it is asked for; paper shows it."""
    return f"<details><summary>{text(summary)}</summary>{inside}</details>"


def section(title: str, inside: str, level: int = 3) -> str:
    """Return a section under a heading, nothing where it is empty."""
    return f"<section><h{level}>{text(title)}</h{level}>{inside}</section>" if inside else ""


class Markup(str):
    """Text that is markup already."""


def _line(row: Sequence[str], looks: Sequence[str]) -> str:
    cells = [each if isinstance(each, Markup) else text(each) for each in row]
    first = f'<th scope="row"{_class(looks[0])}>{cells[0]}</th>'
    rest = zip(cells[1:], looks[1:], strict=True)
    return first + "".join(f"<td{_class(look)}>{each}</td>" for each, look in rest)


def _class(look: str) -> str:
    return f' class="{look}"' if look else ""
