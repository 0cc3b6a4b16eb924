"""Which rows parts cover, and which are missing."""

import random

from hypothesis import given
from hypothesis import strategies as st

from proce.batch.parts.spans import Span, cover, gaps

SPANS = st.lists(st.builds(Span, st.integers(0, 30), st.integers(0, 12)), max_size=12)


def test_gaps_lie_between_the_spans() -> None:
    covered = [Span(2, 3), Span(5, 1), Span(9, 4)]
    assert gaps(covered, Span(0, 15)) == [Span(0, 2), Span(6, 3), Span(13, 2)]
    assert gaps(covered, Span(3, 4)) == [Span(6, 1)]
    assert gaps(covered, Span(9, 2)) == []
    assert gaps([], Span(7, 2)) == [Span(7, 2)]


def test_of_spans_that_share_rows_those_count_that_have_the_most_rows() -> None:
    assert cover([Span(4, 4), Span(0, 8)]) == [Span(0, 8)]
    assert cover([Span(0, 4), Span(0, 8), Span(8, 1)]) == [Span(0, 8), Span(8, 1)]
    assert cover([Span(0, 4), Span(3, 5), Span(8, 2)]) == [Span(3, 5), Span(8, 2)]
    assert cover([Span(0, 0)]) == cover([]) == []


def test_a_late_span_does_not_put_out_those_that_have_all_rows() -> None:
    whole = [Span(0, 16), Span(16, 16), Span(32, 8)]
    assert cover([*whole, Span(0, 20)]) == whole
    assert cover([*whole, Span(10, 30)]) == whole


@given(SPANS, st.integers(42, 45), st.integers(1, 7), st.integers())
def test_rows_are_explained_once_more_at_most_and_then_all_are_covered(
    spans: list[Span], n_rows: int, piece: int, seed: int
) -> None:
    """Whatever is there, filling the gaps piece by piece in any order covers every row once."""
    wanted = Span(0, n_rows)
    missing = gaps(cover(spans), wanted)
    new = [
        Span(first, min(piece, gap.end - first))
        for gap in missing
        for first in range(gap.first_row, gap.end, piece)
    ]
    random.Random(seed).shuffle(new)
    covered = cover([*spans, *new])
    assert set(new) <= set(covered)
    assert gaps(covered, wanted) == []
    rows = [row for span in covered for row in range(span.first_row, span.end)]
    assert len(rows) == len(set(rows))
