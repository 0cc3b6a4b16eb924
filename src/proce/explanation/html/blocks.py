"""The templates, and what they are filled with: all text is escaped and stays on one line."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from proce.explanation.words.values import one_line

Block = TypeVar("Block", covariant=True)


@dataclass(frozen=True, slots=True)
class Bar:
    """A cell of a table with a bar from ``start`` to ``end`` beside its text, from 0 to 1."""

    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; numbers are aligned on the right."""

    title: str
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose first column names the rows, and links to as many elements as have anchors."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str | Bar]]
    anchors: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """An ``<svg>`` element of ours and its caption."""

    svg: Markup
    caption: str


@dataclass(frozen=True, slots=True)
class FoldedList(Generic[Block]):
    """A list whose end is folded away until the reader opens it."""

    shown: Sequence[Block] = ()
    folded: Sequence[Block] = ()


def fold_after(limit: int, blocks: Sequence[Block]) -> FoldedList[Block]:
    """Return a list that shows its first blocks at once, up to a limit."""
    return FoldedList(blocks[:limit], blocks[limit:])


def render(template: str, record: object) -> str:
    """Return a file in ``templates/`` filled in; it calls what it shows ``record``."""
    return _ENVIRONMENT.get_template(template).render(record=record)


def printable(value: object) -> object:
    """Return a value as text on one line without control characters; markup stays as it is."""
    if isinstance(value, Markup):
        return value
    text = str(value)
    return one_line("".join(char for char in text if char.isprintable() or char.isspace()))


def style_string(text: str) -> str:
    """Return text as a string of a style sheet, in which only letters and digits are bare."""
    letters = str(printable(text))
    escaped = (
        char if char.isascii() and char.isalnum() else f"\\{ord(char):x} " for char in letters
    )
    return f'"{"".join(escaped)}"'


_ENVIRONMENT = Environment(
    loader=PackageLoader("proce.explanation.html"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=printable,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
