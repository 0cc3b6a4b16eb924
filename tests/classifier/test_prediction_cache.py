"""A row that a model has answered is not asked about again, and every answer is its own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proce.arrays import Floats, Ints, blocks
from proce.classifier import PredictionCache
from proce.errors import ModelError


class Model:
    """Answers with what is unlike for every row, and counts what it is asked about."""

    def __init__(self):
        self.asked = []

    def __call__(self, rows):
        self.asked += [tuple(row) for row in rows.tolist()]
        first = np.sin(np.nan_to_num(rows, nan=7.5) * np.arange(1, rows.shape[1] + 1)).sum(-1)
        return np.stack([first, 1 - first], axis=-1)


def numbers(*rows) -> Floats:
    return np.array(rows, np.float64)


def owners(*keys) -> Ints:
    return np.array(keys, np.int64)


def test_a_row_is_asked_about_once_and_copies_in_a_batch_are_too():
    table, model = PredictionCache(2, 2), Model()
    rows = numbers([1, 2], [3, 4], [1, 2])
    answers = table.ask(rows, owners(5, 5, 5), model)
    assert model.asked == [(1, 2), (3, 4)]
    assert np.array_equal(answers, Model()(rows))
    again = table.ask(numbers([3, 4], [5, 6]), owners(5, 5), model)
    assert model.asked == [(1, 2), (3, 4), (5, 6)]
    assert np.array_equal(again, Model()(numbers([3, 4], [5, 6])))


def test_every_person_has_answers_of_their_own():
    table, model = PredictionCache(2, 2), Model()
    table.ask(numbers([1, 2]), owners(5), model)
    table.ask(numbers([1, 2], [1, 2]), owners(6, 5), model)
    assert model.asked == [(1, 2), (1, 2)]


def test_rows_are_the_same_bit_by_bit():
    table, model = PredictionCache(1, 2), Model()
    rows = numbers([1.0], [np.nextafter(1.0, 2.0)], [np.nan])
    table.ask(rows, owners(1, 1, 1), model)
    assert len(model.asked) == 3
    assert np.array_equal(table.ask(rows, owners(1, 1, 1), model), Model()(rows))
    assert len(model.asked) == 3


def test_what_a_model_failed_on_is_asked_again():
    table, model = PredictionCache(2, 2), Model()

    def failing(rows):
        raise ModelError("not today")

    with pytest.raises(ModelError):
        table.ask(numbers([1, 2], [3, 4]), owners(0, 0), failing)
    answers = table.ask(numbers([1, 2]), owners(0), model)
    assert model.asked == [(1, 2)]
    assert np.array_equal(answers, Model()(numbers([1, 2])))


@given(
    batches=st.lists(
        st.lists(st.tuples(st.integers(0, 4), st.integers(0, 40)), max_size=60), max_size=12
    ),
    max_bytes=st.sampled_from([0, 2**20]),  # of at least 4,096 rows, many more than there are
)
def test_answers_are_those_of_the_model_whatever_was_asked_before(batches, max_bytes):
    table, model = PredictionCache(2, 2, max_bytes), Model()
    pairs = set()
    for batch in batches:
        rows = np.array(batch, np.float64).reshape(-1, 2)
        keys = rows[:, 0].astype(np.int64) % 2
        assert np.array_equal(table.ask(rows, keys, model), Model()(rows))
        pairs |= set(batch)
    assert len(model.asked) == len(pairs)


def test_a_table_grows_and_forgets_but_never_errs():
    rows = np.random.default_rng(0).random((40_000, 3))
    keys = np.zeros(len(rows), np.int64)
    expected = Model()(rows)
    small, large, model, other = (
        PredictionCache(3, 2, max_bytes=0),
        PredictionCache(3, 2),
        Model(),
        Model(),
    )
    for table, asked in ((small, model), (large, other)):
        for _ in range(2):
            for part in blocks(np.arange(len(rows)), 7_000):
                answers = table.ask(rows[part], keys[part], asked)
                assert np.array_equal(answers, expected[part])
    assert len(model.asked) > 60_000  # 4,096 rows are kept
    assert len(other.asked) < 41_000
