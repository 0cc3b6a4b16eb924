"""The columns on which weights are learned are those that the equation weighs."""

import numpy as np
import pytest

from proce.causal.equations.regression import Polynomial
from proce.causal.equations.terms import Terms, columns_of
from proce.schema import Categorical, Continuous, Ordinal

from . import slow_mechanisms

AGE, PAY = Continuous("age"), Continuous("pay")
TOWN, RANK = Categorical("town", ("a", "b", "c")), Ordinal("rank", ("low", "mid", "high"))
CURVED = Terms(
    (TOWN, AGE, RANK, PAY),
    degree=2,
    knots=(("pay", (0.2, 0.4, 0.7, 0.8)), ("age", (0.1, 0.5, 0.6))),
    ends=(("age", 0.05, 0.9),),
    maps=(("age", 1.5, -0.2),),
)


def people(n=300):
    draw = np.random.default_rng(0)
    return {
        "age": draw.uniform(-0.2, 1.2, n),
        "pay": draw.uniform(-0.2, 1.2, n),
        "town": draw.integers(0, 3, n).astype(np.float64),
        "rank": draw.integers(0, 3, n).astype(np.float64),
    }


@pytest.mark.parametrize("terms", [CURVED, Terms((AGE,)), Terms((TOWN, RANK), degree=2)])
def test_columns_are_levels_numbers_products_and_bends(terms):
    expected = slow_mechanisms.columns(terms, people())
    found = columns_of(terms, people())
    assert found.shape == (300, terms.size - 1)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_a_missing_cell_has_the_columns_that_the_equation_weighs():
    """A missing level is the first, a missing number 0, on both ways."""
    parents = people(4)
    parents["town"][0], parents["rank"][1], parents["age"][2] = -1, -1, np.nan
    columns = columns_of(CURVED, parents)
    assert columns[0, :3].tolist() == [1, 0, 0]
    assert columns[2, 3] == 0.05  # -0.2, where age is 0, counts as the lower end
    weights = np.random.default_rng(1).normal(size=CURVED.size)
    told = Polynomial(CURVED, weights)(parents)
    np.testing.assert_allclose(told, columns @ weights[1:] + weights[0], rtol=1e-9)


def test_columns_have_the_shape_of_the_parents():
    parents = {name: values.reshape(20, 15) for name, values in people().items()}
    found = columns_of(CURVED, parents)
    assert found.shape == (20, 15, CURVED.size - 1)
    assert np.array_equal(found.reshape(300, -1), columns_of(CURVED, people()))
    none = {name: values[:0] for name, values in people().items()}
    assert columns_of(CURVED, none).shape == (0, CURVED.size - 1)
