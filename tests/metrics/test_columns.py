"""The counterfactuals of a result as columns of tensors."""

import numpy as np

from proce.metrics.inputs import CounterfactualColumns


def test_every_counterfactual_of_the_rows_that_needed_one_is_there(world):
    columns = CounterfactualColumns.of(world.four_people())
    assert columns.searched.tolist() == [0, 1, 3]
    assert columns.counts.tolist() == [2, 0, 1]
    assert columns.frame_row.tolist() == [0, 0, 3]
    assert columns.rank.tolist() == [1, 2, 1]
    assert np.allclose(columns.rows[1], world.row(skill=8, city="b"))
    assert (columns.predicted.tolist(), columns.target.tolist()) == ([0, 0, 0], [1, 1, 1])


def test_actions_holds_and_changes_without_a_mark_are_done_by_hand(world):
    changes = {
        "study": ("action", 6),
        "skill": ("hold", 3),
        "city": ("unmarked", "b"),
        "grade": ("consequence", "high"),
    }
    columns = CounterfactualColumns.of(world.result(world.explained(changes)))
    assert columns.by_hand.tolist() == [[True, True, True, False]]


def test_a_result_of_nobody_has_no_counterfactuals(world):
    columns = CounterfactualColumns.of(world.result())
    assert (len(columns), len(columns.searched)) == (0, 0)
    assert columns.rows.shape == columns.by_hand.shape == (0, 4)


def test_some_of_them_keep_all_rows_that_were_searched(world):
    columns = CounterfactualColumns.of(world.four_people())
    first = columns.take(columns.rank == 1)
    assert (first.frame_row.tolist(), first.searched.tolist()) == ([0, 3], [0, 1, 3])
