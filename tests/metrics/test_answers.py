"""The counterfactuals of a result as tensors."""

import torch

from proce.metrics.answers import Answers


def test_every_counterfactual_of_those_who_wanted_one_is_there(world):
    answers = Answers.of(world.four_people())
    assert answers.asked.tolist() == [0, 1, 3]
    assert answers.counts.tolist() == [2, 0, 1]
    assert answers.row.tolist() == [0, 0, 3]
    assert answers.rank.tolist() == [1, 2, 1]
    assert torch.allclose(answers.rows[1], world.row(skill=8, city="b"))
    assert (answers.predicted.tolist(), answers.target.tolist()) == ([0, 0, 0], [1, 1, 1])


def test_actions_holds_and_changes_without_a_mark_are_done_by_hand(world):
    told = {
        "study": ("action", 6),
        "skill": ("hold", 3),
        "city": ("unmarked", "b"),
        "grade": ("follows", "high"),
    }
    answers = Answers.of(world.result(world.explained(told)))
    assert answers.by_hand.tolist() == [[True, True, True, False]]


def test_a_result_of_nobody_has_no_answers(world):
    answers = Answers.of(world.result())
    assert (len(answers), len(answers.asked)) == (0, 0)
    assert answers.rows.shape == answers.by_hand.shape == (0, 4)


def test_some_of_them_keep_who_asked(world):
    answers = Answers.of(world.four_people())
    first = answers.take(answers.rank == 1)
    assert (first.row.tolist(), first.asked.tolist()) == ([0, 3], [0, 1, 3])
