"""Notes are columns: what rows share is kept once, and each row has its own in their order."""

from dataclasses import replace

import numpy as np

from proce.explanation.record.counterfactuals import Notes


def rows(*positions: int) -> np.ndarray:
    return np.array(positions, dtype=np.int64)


def test_each_row_has_its_notes_in_the_order_in_which_they_were_given() -> None:
    notes = Notes.collect([(rows(2, 0), "late"), (rows(0, 1, 2), "all"), (rows(2), "late again")])
    assert notes.texts == ("late", "all", "late again")
    assert notes.by_row(4) == [["late", "all"], ["all"], ["late", "all", "late again"], []]
    assert [list(notes.of_row(row)) for row in range(4)] == notes.by_row(4)


def test_a_text_that_rows_share_is_kept_once() -> None:
    notes = Notes.of([["same"], [], ["own", "same"]])
    assert notes.texts == ("same", "own")
    assert notes.by_row(3) == [["same"], [], ["own", "same"]]


def test_some_rows_keep_their_notes_in_any_order() -> None:
    notes = Notes.of([["a"], ["b", "c"], []])
    assert notes.owned_by(rows(2, 1, 0, 1)).by_row(4) == [[], ["b", "c"], ["a"], ["b", "c"]]
    assert notes.owned_by(rows()).by_row(0) == []


def test_a_withheld_text_is_gone_altogether() -> None:
    notes = Notes.of([["sex", "a"], ["b", "sex"]]).without(lambda text: text == "sex")
    assert notes.texts == ("a", "b")
    assert notes.by_row(2) == [["a"], ["b"]]


def test_parts_share_their_texts() -> None:
    first, second = Notes.of([["a", "b"], []]), Notes.of([["b"], ["c", "a"]])
    moved = replace(second, owner=second.owner + 2)
    joined = Notes.concatenate([first, moved])
    assert joined.by_row(4) == [["a", "b"], [], ["b"], ["c", "a"]]
    assert joined.texts == ("a", "b", "c")


def test_nothing_is_known_of_rows_without_notes() -> None:
    notes = Notes.collect([])
    assert notes.of_row(0) == ()
    assert notes.owned_by(rows(0, 1)).by_row(2) == [[], []]
