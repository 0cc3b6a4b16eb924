"""A change as a picture: where the value is among the training rows, and where it would be."""

from dataclasses import replace

import pytest

from proce.explanation.html.strips import Strip, legend_of, shares_text, strip_of
from proce.explanation.record.context import spread_of
from proce.explanation.words.cells import ChangedCell, row_cells

from ...explained import Way
from .. import samples
from ..samples import CHANGE_JOB, CODEC, RAISE_SAVINGS, explanation, people

CONTEXT = samples.context(spread=spread_of(CODEC, CODEC.encode(people())))


def cells(way: Way, row: int = 0) -> dict[str, ChangedCell]:
    item = explanation(way, row=row, shared=CONTEXT)
    return {cell.feature.name: cell for cell in row_cells(item)[0]}


def strip(way: Way, name: str) -> Strip:
    drawn = strip_of(cells(way)[name], CONTEXT)
    assert drawn is not None
    return drawn


def test_an_action_lies_between_the_ends_of_the_data() -> None:
    drawn = strip(RAISE_SAVINGS, "savings")
    assert (drawn.kind, drawn.low, drawn.high) == ("action", "0", "90,000")
    assert drawn.now == pytest.approx(2_000 / 90_000)
    assert drawn.after == pytest.approx(3_500 / 90_000)
    assert drawn.label == "savings on its way from 2,000 to 3,500"


def test_bands_hold_nine_of_ten_rows_and_the_middle_half() -> None:
    drawn = strip(RAISE_SAVINGS, "savings")
    assert drawn.most == (0.0, 1.0)
    assert drawn.half == (pytest.approx(700 / 90_000), pytest.approx(12_000 / 90_000))


def test_the_ends_are_told_on_the_step_inside_of_them() -> None:
    """A line from −3,340.478 to 90,000.129, told in hundredths as the data are."""
    position = CODEC.schema.position("savings")
    low, span, resolution = CODEC.low.copy(), CODEC.span.copy(), CODEC.resolution.copy()
    low[position], span[position], resolution[position] = -3_340.478, 93_340.607, 0.01
    codec = replace(CODEC, low=low, span=span, resolution=resolution)
    drawn = strip_of(cells(RAISE_SAVINGS)["savings"], replace(CONTEXT, codec=codec))
    assert drawn is not None
    assert (drawn.low, drawn.high) == ("−3,340.47", "90,000.12")


def test_a_hold_shows_where_it_would_go() -> None:
    drawn = strip(RAISE_SAVINGS, "amount")
    assert drawn.kind == "hold"
    assert drawn.after == pytest.approx((27_000 - 1_000) / 49_000)


def test_levels_with_an_order_stand_on_a_line_and_others_do_not() -> None:
    drawn = strip({"education": ("action", "master")}, "education")
    assert (drawn.now, drawn.after, drawn.most) == (0, 1, None)
    assert (drawn.low, drawn.high) == ('"school"', '"master"')
    assert strip_of(cells(CHANGE_JOB)["job"], CONTEXT) is None
    assert shares_text(cells(CHANGE_JOB)["job"], CONTEXT) == "40% → 40%"


def test_an_outlier_stands_just_outside() -> None:
    assert strip({"savings": ("action", 100_000)}, "savings").after == pytest.approx(1.02)


def test_the_legend_explains_what_there_is() -> None:
    number, hold = strip(RAISE_SAVINGS, "savings"), strip(RAISE_SAVINGS, "amount")
    level = strip({"education": ("action", "master")}, "education")
    assert legend_of([]) == ""
    assert "band" not in legend_of([level])
    assert "band" in legend_of([level, number])
    assert "cross" not in legend_of([number])
    assert "cross" in legend_of([hold])
