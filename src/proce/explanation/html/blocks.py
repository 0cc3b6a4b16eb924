"""What a page is made of: tables, figures and folded lists, as plain texts without markup."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from markupsafe import Markup

Block = TypeVar("Block", covariant=True)
Facts = Sequence[tuple[str, str]]  # names and values


@dataclass(frozen=True, slots=True)
class Bar:
    """A cell of a table with a bar beside its text.

    Attributes
    ----------
    start, end
        The part of the bar that is filled, from 0 to 1.
    text
        What the bar shows, in words.
    line
        A mark on the bar, from 0 to 1; ``None`` for none.
    """

    start: float
    end: float
    text: str
    line: float | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    title
        The text of its head.
    numeric
        Whether it holds numbers, which are aligned on the right.
    """

    title: str
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose first column names the rows.

    Attributes
    ----------
    caption
        What the table shows.
    columns
        The heads, from left to right.
    rows
        The cells: texts, or bars with a text.
    anchors
        Ids of the page's elements that the first cells link to, for the first so many rows.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str | Bar]]
    anchors: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture and its caption.

    Attributes
    ----------
    svg
        An ``<svg>`` element of ours.
    caption
        What the picture shows.
    """

    svg: Markup
    caption: str


@dataclass(frozen=True, slots=True)
class FoldedList(Generic[Block]):
    """A list whose end is folded away until the reader opens it.

    Attributes
    ----------
    shown
        What is shown at once.
    folded
        What is folded away; empty for a short list.
    """

    shown: Sequence[Block]
    folded: Sequence[Block]


def fold_after(limit: int, blocks: Sequence[Block]) -> FoldedList[Block]:
    """Return a list that shows its first blocks at once, up to a limit."""
    return FoldedList(blocks[:limit], blocks[limit:])
