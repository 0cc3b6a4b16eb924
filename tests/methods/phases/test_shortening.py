"""Which lines pass once some of them were shortened: those of all rows at once as one by one."""

import numpy as np

from proce.arrays import Array
from proce.explanation import Fronts
from proce.methods.phases.prune import passed_when_shortened
from proce.methods.phases.shortlist import Shortlist


def shortlist_of(owner: Array, rows: Array, missing: Array) -> Shortlist:
    nothing, fronts = rows[:, :0], Fronts.empty(rows.shape[1])
    return Shortlist(owner, rows, nothing, nothing, nothing, missing, fronts, nothing)


def test_lines_that_were_shortened_pass_as_they_would_one_by_one() -> None:
    for seed in range(20):
        generator = np.random.default_rng(seed)
        owner = np.sort(generator.integers(6, size=24))
        rows, new = generator.integers(3, size=(2, 24, 1)).astype(np.float64)
        rows[rows == 2], new[new == 2] = np.nan, np.nan
        missing = np.where(generator.random(24) < 0.2, np.inf, 0.0)
        passed = generator.random(24) < 0.8
        replaced = np.flatnonzero(generator.random(24) < 0.6)
        after = rows.copy()
        after[replaced] = new[replaced]
        expected, current = passed.copy(), rows.copy()
        for line in replaced.tolist():
            current[line] = new[line]
            is_shown = any(
                other != line
                and expected[other]
                and owner[other] == owner[line]
                and np.array_equal(current[other], current[line], equal_nan=True)
                for other in range(24)
            )
            expected[line] = np.isfinite(missing[line]) and not is_shown
        told = passed_when_shortened(
            shortlist_of(owner, rows, missing),
            shortlist_of(owner, after, missing),
            passed,
            replaced,
        )
        assert told.tolist() == expected.tolist()


def test_a_line_that_differs_from_one_that_is_shown_by_rounding_says_the_same() -> None:
    owner, missing = np.zeros(2, np.int64), np.zeros(2)
    before = shortlist_of(owner, np.array([[0.3], [0.7]]), missing)
    after = shortlist_of(owner, np.array([[0.3], [0.3 + 1e-12]]), missing)
    told = passed_when_shortened(before, after, np.array([True, True]), np.array([1]))
    assert told.tolist() == [True, False]
