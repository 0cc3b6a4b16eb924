"""Does advice survive when the model is trained again?"""

import doctest

import numpy as np
import pytest

from proce.errors import ModelError
from proce.metrics import bootstrap_refits, validity


def test_refits_get_as_many_rows_of_each_class_as_there_were():
    label = np.array([0] * 30 + [1] * 3)
    drawn = bootstrap_refits(lambda rows, seed: (rows, seed), label, n_refits=4, seed=7)
    assert [seed for _, seed in drawn] == [8, 9, 10, 11]
    assert [np.bincount(label[rows]).tolist() for rows, _ in drawn] == [[30, 3]] * 4
    assert max(len(set(rows.tolist())) for rows, _ in drawn) < 33  # with replacement
    assert not np.array_equal(drawn[0][0], drawn[1][0])


def test_the_same_seed_gives_the_same_rows():
    label = ["yes", "no"] * 20
    one, again = (bootstrap_refits(lambda rows, _: rows.tolist(), label, seed=3) for _ in range(2))
    assert one == again
    assert one != bootstrap_refits(lambda rows, _: rows.tolist(), label, seed=4)


def test_what_cannot_be_refitted_is_refused():
    with pytest.raises(ModelError, match="n_refits is 0; expected a whole number from 1"):
        bootstrap_refits(lambda rows, seed: None, [0, 1], n_refits=0)
    with pytest.raises(ModelError, match=r"shape \(1, 2\); expected one label for each"):
        bootstrap_refits(lambda rows, seed: None, [[0, 1]])


def test_the_docstring_shows_real_output():
    outcome = doctest.testmod(validity)
    assert outcome.attempted == 1
    assert outcome.failed == 0
