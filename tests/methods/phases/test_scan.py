"""Candidates of few actions that the search begins with."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import ProCE
from proce.methods.calls.options import Options
from proce.methods.phases.candidates import CandidateBatch
from proce.methods.phases.plan import CallSpec
from proce.methods.phases.scan import first_of_each_set, scan, scanned_alike
from proce.objective import CounterfactualProblem
from proce.schema import Continuous, Schema

from ...worlds import TINY, logistic


def posed(n_features: int, n_rows: int = 24) -> CounterfactualProblem:
    """Return the problem of rows a quarter of whose cells are missing."""
    draw = np.random.default_rng(0)
    names = [f"x{number}" for number in range(n_features)]
    drawn = draw.normal(size=n_features)
    weights = dict(zip(names, drawn / np.abs(drawn).sum() ** 0.5, strict=True))
    frame = pd.DataFrame(draw.uniform(0, 1, (200, n_features)), columns=names)
    frame = frame.mask(draw.random(frame.shape) < 0.25)

    def model(rows: pd.DataFrame) -> Any:
        terms = [weights[name] * (rows[name].fillna(0.5) - 0.5) for name in names]
        return logistic(8 * sum(terms) - 1)  # one by one, so that the last bit is a row's own

    schema = Schema([Continuous(name, (0, 1)) for name in names])
    fitted = ProCE(model, schema, settings=TINY).fit(frame).fitted_
    rows, raw = fitted.rows[:n_rows], fitted.codec.to_raw(fitted.rows[:n_rows])
    spec = CallSpec.read(fitted, Options(target=1), ())
    return spec.problem(spec.batch(rows, np.ones(n_rows, dtype=np.int64), raw))


@pytest.mark.parametrize("n_features", [3, 6, 16])
def test_a_row_has_the_same_candidates_alone_and_beside_rows_with_other_missing_cells(
    n_features: int,
) -> None:
    problem = posed(n_features)
    for part in scanned_alike(problem):
        beside = scan(problem.take(part))
        for place, row in enumerate(part.tolist()):
            alone = scan(problem.take(np.array([row])))
            assert len(alone) == len(beside)
            for own, all_of_them in zip(alone, beside, strict=True):
                assert np.array_equal(own.rows[0], all_of_them.rows[place], equal_nan=True)


def test_rows_are_scanned_together_that_have_as_many_groups() -> None:
    problem = posed(6)
    parts = scanned_alike(problem)
    assert sorted(np.concatenate(parts).tolist()) == list(range(24))
    assert len(parts) > 1
    n_groups = [len(scan(problem.take(part))) for part in parts]
    assert n_groups == sorted(set(n_groups))


SETS = np.array([[1, 0], [1, 0], [0, 1], [1, 1]], np.bool_)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ([0.1, 0.2, 0.3, 0.4], [0, 2, 3]),  # the second does what the first does
        ([0.2, 0.1, 0.3, 0.4], [1, 2, 3]),
        ([0.4, 0.3, 0.2, 0.1], [3, 2, 1]),
        ([0.1, 0.1, 0.1, 0.1], [0, 2, 3]),  # of equal ones the earlier
        ([0.3, math.inf, 0.2, math.inf], [2, 0, 2]),  # two sets are left, then the first again
        ([math.inf, math.inf, 0.5, 0.2], [3, 2, 3]),
    ],
)
def test_the_lowest_keys_are_taken_and_no_set_of_actions_twice(
    keys: list[float], expected: list[int]
) -> None:
    none = np.zeros((1, 4))
    tried = CandidateBatch(none, SETS[None], none, none, none, none)
    assert first_of_each_set(tried, np.array([keys]), 3)[0].tolist() == expected
