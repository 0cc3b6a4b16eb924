"""How large the changes of single cells are."""

import math

import numpy as np

from proce.explanation.words.cells import row_cells

from ...explained import Way, changed_rows, explained_row
from ..samples import CODEC, context, people


def sizes(factual: np.ndarray, way: Way, expected: np.ndarray | None = None) -> dict[str, float]:
    rows, changes, _ = changed_rows(CODEC, factual, [way])
    chances, losses = np.array([[0.3, 0.7]]), np.zeros((1, 3))
    shared = context(effort={"education": 2.0})
    expected = None if expected is None else expected[None]
    told = explained_row(
        shared, factual, factual, rows, changes, chances, losses, expected=expected
    )
    return {cell.feature.name: cell.size for cell in row_cells(told)[0]}


def test_a_cell_that_was_missing_is_changed_wholly_whatever_it_becomes() -> None:
    factual = CODEC.encode(people())[0]
    factual[[1, 2, 3]] = math.nan, -1, -1
    for degree in ("school", "master"):
        way = {"ratio": ("action", 0.3), "education": ("action", degree), "job": ("action", "none")}
        assert sizes(factual, way) == {"ratio": 1.0, "education": 2.0, "job": 1.0}


def test_a_hold_has_the_size_of_the_change_that_it_prevents_and_none_where_that_is_not_known() -> (
    None
):
    factual = CODEC.encode(people())[0]
    expected = factual.copy()
    expected[2], expected[1] = 2.0, math.nan  # without the hold a master, in two steps of two
    way: Way = {"education": ("hold", "school"), "ratio": ("hold", 0.31)}
    assert sizes(factual, way, expected) == {"education": 2.0, "ratio": 0.0}
