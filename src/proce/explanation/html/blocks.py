"""What a page is made of: tables, figures and folded lists, as plain texts without markup."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from markupsafe import Markup

Block = TypeVar("Block", covariant=True)


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
        The texts of the cells.
    anchors
        Ids of the page's elements that the first cells link to, for the first so many rows.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
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
class Exhibit:
    """A picture, where it is drawn, and the same numbers as a table."""

    figure: Figure | None
    table: Table


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
