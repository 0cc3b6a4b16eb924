"""How candidates are put to a model: near, as they came in where unchanged, and once."""

from dataclasses import replace

import numpy as np

from proce.classifier import PredictionCache

STUDY, PAY = 0, 2


class Recorder:
    """The classifier of the world, which writes down what it is asked about."""

    def __init__(self, inner):
        self.inner, self.asked = inner, []
        self.classes, self.threshold = inner.classes, inner.threshold

    def predict_proba(self, rows):
        self.asked.append(rows)
        return self.inner.predict_proba(rows)

    def predict(self, rows):
        return self.inner.predict(rows)


def test_a_candidate_of_a_person_is_asked_about_once(world):
    factual = world.random_rows(3)
    problem = world.problem(factual, "off")
    model, table = Recorder(problem.classifier), PredictionCache(factual.shape[1], 2)
    rows = factual[:, None].repeat(4, axis=1)
    rows[:, 1:3, PAY] = 0.25
    first = replace(problem, classifier=model, answers=table).ask(rows)
    assert [len(asked) for asked in model.asked] == [6]  # of each person the row and one other
    rows[0, 0, STUDY] = 0.75
    again = replace(problem, classifier=model, answers=table).ask(rows)
    assert [len(asked) for asked in model.asked] == [6, 1]
    assert np.array_equal(again[1:], first[1:])
    for answers, candidates in ((first[1:], rows[1:]), (again, rows)):
        expected = problem.classifier.predict_proba(candidates.reshape(-1, 6))
        assert np.array_equal(answers.reshape(-1, 2), expected)


def test_a_problem_looks_up_the_answers_of_its_own_model_alone(world):
    factual = world.random_rows(2)
    plain = world.problem(factual, "off")
    model, other = Recorder(plain.classifier), Recorder(plain.classifier)
    problem = replace(plain, classifier=model, answers=PredictionCache(factual.shape[1], 2))
    for _ in range(2):
        answers = problem.ask(factual[:, None])
        assert np.array_equal(problem.ask(factual[:, None], other), answers)
    assert (len(model.asked), len(other.asked)) == (1, 2)


def test_without_a_table_everything_is_asked(world):
    factual = world.random_rows(2)
    problem = world.problem(factual, "off")
    model = Recorder(problem.classifier)
    rows = factual[:, None].repeat(3, axis=1)
    replace(problem, classifier=model).ask(rows)
    assert [len(asked) for asked in model.asked] == [6]


def test_what_lies_absurdly_far_out_is_moved_nearer(world):
    factual = world.random_rows(1)
    problem = world.problem(factual, "off")
    model = Recorder(problem.classifier)
    rows = factual[:, None].copy()
    rows[0, 0, PAY] = 1e300
    replace(problem, classifier=model).ask(rows)
    assert model.asked[0][0, PAY] == 1e6
