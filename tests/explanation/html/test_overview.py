"""The overview of a report: readable and bounded for one, two, twenty and thousands of rows."""

from itertools import cycle, islice

import pytest

from proce.explanation import Explanations
from proce.explanation.html.report import page_of_rows

from ...explained import together
from .. import samples
from ..samples import everything, explanations, people
from .parsed import Page

MAX_BYTES_FOR_EACH_ROW = 1_000


def many(n_rows: int) -> Explanations:
    """Return rows of all outcomes, over and over."""
    kept = everything()
    items = list(islice(cycle(kept), n_rows))
    result = explanations(*items[:1], frame=people())
    return Explanations(together(items), result.layout, samples.provenance())


def page(n_rows: int) -> tuple[str, Page]:
    source = page_of_rows(many(n_rows), at_most=0)
    return source, Page(source)


@pytest.mark.parametrize(("n_rows", "told"), [(2, "2 rows,"), (20, "20 rows,"), (501, "501 rows,")])
def test_rows_are_counted_and_listed(n_rows: int, told: str) -> None:
    source, shown = page(n_rows)
    assert f"{told} of which the first 0 are told in full below." in shown.text
    assert source.count('<th scope="row"') >= min(n_rows, 500)


def test_a_long_list_is_cut_and_says_so() -> None:
    assert "not listed" not in page(500)[1].text
    assert "1 more row is not listed." in page(501)[1].text
    assert "100 more rows are not listed." in page(600)[1].text


def test_the_page_stays_small() -> None:
    start, longer = len(page(20)[0]), len(page(500)[0])
    assert longer - start < 480 * MAX_BYTES_FOR_EACH_ROW
    assert abs(len(page(1_000)[0]) - longer) < 20 * MAX_BYTES_FOR_EACH_ROW


def test_one_row_needs_no_overview_unless_groups_are_asked_for() -> None:
    assert "All rows" not in page_of_rows(everything()[:1], max_drawn=0)
    assert "1 row." in Page(page_of_rows(everything()[:1], by="sex", max_drawn=0)).text


def test_what_was_asked_for_is_a_column_only_where_it_differs() -> None:
    assert "asked for" not in page(5)[1].text
    assert "probability of approved" in page(5)[1].text
