"""Spans of consecutive rows: which rows parts cover, and which are missing."""

from collections.abc import Iterable
from typing import NamedTuple


class Span(NamedTuple):
    """Some consecutive rows of a table, by the position of the first and their number."""

    first_row: int
    n_rows: int

    @property
    def end(self) -> int:
        """The position after the last row."""
        return self.first_row + self.n_rows


def cover(spans: Iterable[Span]) -> list[Span]:
    """Return spans in the order of their rows, of which no two share a row.

    A span that shares a row with one before it is left out. What is explained anew for the rows
    that :func:`gaps` then misses never shares a row with those that are kept.
    """
    kept: list[Span] = []
    for span in sorted(spans, key=lambda own: (own.first_row, -own.n_rows)):
        if span.n_rows and (not kept or span.first_row >= kept[-1].end):
            kept.append(span)
    return kept


def gaps(covered: Iterable[Span], wanted: Span) -> list[Span]:
    """Return the rows of a span that are in none of the covered ones, which are in order."""
    missing: list[Span] = []
    first_row = wanted.first_row
    for span in covered:
        if span.end <= first_row:
            continue
        if span.first_row >= wanted.end:
            break
        if span.first_row > first_row:
            missing.append(Span(first_row, span.first_row - first_row))
        first_row = span.end
    if first_row < wanted.end:
        missing.append(Span(first_row, wanted.end - first_row))
    return missing
