"""What is known of explained rows: lines that belong to rows, notes, and how training rows lie."""

import numpy as np
import pandas as pd
import pytest

from proce.explanation.record.context import N_QUANTILES, spread_of
from proce.explanation.record.counterfactuals import Notes
from proce.schema import Categorical, Codec, Continuous, Ordinal, Schema

from .. import samples
from ..samples import Way, explanation, explanations


def rows(*positions: int) -> np.ndarray:
    return np.array(positions, dtype=np.int64)


def texts(notes: Notes, n_rows: int) -> list[list[str]]:
    return [list(notes.texts_of(row)) for row in range(n_rows)]


def test_each_row_has_its_notes_in_the_order_in_which_they_were_given() -> None:
    notes = Notes.collect([(rows(2, 0), "late"), (rows(0, 1, 2), "all"), (rows(2), "late again")])
    assert notes.texts == ("late", "all", "late again")
    assert texts(notes, 4) == [["late", "all"], ["all"], ["late", "all", "late again"], []]


def test_a_text_that_rows_share_is_kept_once() -> None:
    notes = Notes.of([["same"], [], ["own", "same"]])
    assert notes.texts == ("same", "own")
    assert texts(notes, 3) == [["same"], [], ["own", "same"]]


def test_lines_come_in_the_order_of_the_rows_that_own_them() -> None:
    notes = Notes.of([["a"], ["b", "c"], []])
    assert texts(notes.owned_by(rows(2, 1, 0, 1)), 4) == [[], ["b", "c"], ["a"], ["b", "c"]]
    assert notes.owned_by(rows(2, 1, 0, 1)).owner.tolist() == [1, 1, 2, 3, 3]
    assert len(notes.owned_by(rows())) == len(Notes.collect([]).owned_by(rows(0, 1))) == 0


def test_a_withheld_text_is_gone_altogether() -> None:
    notes = Notes.of([["sex", "a"], ["b", "sex"]]).without(lambda text: text == "sex")
    assert notes.texts == ("a", "b")
    assert texts(notes, 2) == [["a"], ["b"]]


def test_parts_share_their_texts() -> None:
    first, second = Notes.of([["a", "b"], []]), Notes.of([["b"], ["c", "a"]])
    joined = Notes.concatenate([first, second.shifted(2)])
    assert texts(joined, 4) == [["a", "b"], [], ["b"], ["c", "a"]]
    assert joined.texts == ("a", "b", "c")


SCHEMA = Schema(
    [
        Continuous("age", step=1),
        Ordinal("school", ("none", "basic", "high")),
        Categorical("home", ("rents", "owns")),
    ]
)


def test_quantiles_of_numbers_are_values_of_rows_and_levels_have_shares() -> None:
    frame = pd.DataFrame(
        {
            "age": range(101),
            "school": ["none"] * 50 + ["high"] * 51,
            "home": ["owns"] * 100 + ["rents"],
        }
    )
    codec = Codec.fit(SCHEMA, frame)
    spread = spread_of(codec, codec.encode(frame))
    assert spread["age"] == tuple(range(0, 101, 5))
    assert spread["school"] == pytest.approx((50 / 101, 0, 51 / 101))
    assert spread["home"] == pytest.approx((1 / 101, 100 / 101))


def test_missing_cells_do_not_count() -> None:
    frame = pd.DataFrame(
        {
            "age": [1.0, None, 3.0, None],
            "school": ["none", None, "high", "high"],
            "home": ["owns", "rents", None, None],
        }
    )
    codec = Codec.fit(SCHEMA, frame)
    spread = spread_of(codec, codec.encode(frame))
    assert (spread["age"][0], spread["age"][-1], len(spread["age"])) == (1, 3, N_QUANTILES)
    assert spread["school"] == pytest.approx((1 / 3, 0, 2 / 3))
    assert spread["home"] == (0.5, 0.5)


def test_the_changes_are_drawn_on_the_spread_of_the_training_rows() -> None:
    way: Way = {"savings": ("action", 60_000), "job": ("action", "office")}
    spread = {
        "savings": tuple(range(0, 2_100, 100)),  # nine of ten: 100 to 1,900, half: 500 to 1,500
        "job": (0.25, 0.75, 0.0),
    }
    ax = explanations(explanation(way, shared=samples.context(spread=spread))).plot_changes()
    ends = [sorted({*each.get_paths()[0].vertices[:, 0]}) for each in ax.collections]
    assert [(each[0], each[-1]) for each in ends] == [
        pytest.approx((100 / 90_000, 1_900 / 90_000)),
        pytest.approx((500 / 90_000, 1_500 / 90_000)),
    ]
    assert {'"service" (25%)', '"office" (75%)'} <= {text.get_text() for text in ax.texts}
    legend = ax.get_xlabel().replace("\n", " ")
    assert "inner band: the middle half, outer: nine of ten" in legend
    assert "in brackets: their share" in legend
    without = explanations(explanation(way)).plot_changes()
    assert not without.collections
    assert "dark" not in without.get_xlabel()
