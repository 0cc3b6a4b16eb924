"""Spans of consecutive rows: which rows parts cover, and which are missing."""

from bisect import bisect_right
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

    They are those that together have the most rows, and the fewest of such: all rows, where some
    of the spans have them all without sharing one. So it is once the rows that :func:`gaps` misses
    have been explained, whatever else is written meanwhile.
    """
    ordered = sorted({span for span in spans if span.n_rows}, key=lambda own: own.end)
    ends = [span.end for span in ordered]
    best = [(0, 0)]  # of the first spans: how many rows they can have, less the number of spans
    before: list[int] = []  # how many of the spans end where a span begins, or earlier
    for place, span in enumerate(ordered):
        before.append(bisect_right(ends, span.first_row, hi=place))
        rows, spared = best[before[place]]
        best.append(max(best[place], (rows + span.n_rows, spared - 1)))
    kept: list[Span] = []
    place = len(ordered)
    while place:
        if best[place] == best[place - 1]:
            place -= 1
        else:
            kept.append(ordered[place - 1])
            place = before[place - 1]
    return kept[::-1]


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
