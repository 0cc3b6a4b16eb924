"""The last check of candidates agrees with slow ones, cell by cell and by a frame."""

from dataclasses import replace

import numpy as np
import pytest

from proce import ProCE
from proce.arrays import Array
from proce.explanation import Change
from proce.methods.calls.options import Options
from proce.methods.phases.check import FrameRows, check_candidates
from proce.methods.pipeline import ProceCall
from proce.objective import CounterfactualProblem

from ...worlds import people

N_ROWS, N_CANDIDATES = 12, 400
RULES = ("cf.savings >= x.savings or cf.debt < 50", "cf.age <= 70")


def random_candidates(call: ProceCall, seed: int) -> tuple[Array, Array, Array]:
    """Return owners, rows and what is said to have become of each cell, which may be false."""
    draw = np.random.default_rng(seed)
    owner = draw.integers(N_ROWS, size=N_CANDIDATES)
    rows = call.factual[owner].copy()
    shape = rows.shape
    levels = draw.integers(-1, 2, shape).astype(np.float64)
    drawn = np.where(call.context.codec.is_number, 1.3 * draw.random(shape), levels)
    moves = draw.random(shape) < 0.3
    rows[moves] = drawn[moves]
    rows[draw.random(shape) < 0.01] = 1e6
    rows[:, 0][draw.random(len(rows)) < 0.02] = np.nan
    rows[:, 3:] = np.minimum(rows[:, 3:], 1)
    kinds = np.where(moves, int(Change.ACTION), 0).astype(np.int8)
    other = draw.integers(0, 4, shape).astype(np.int8)
    return owner, rows, np.where(draw.random(shape) < 0.03, other, kinds)


def slowly_within_limits(
    problem: CounterfactualProblem, owner: Array, rows: Array, changes: Array
) -> Array:
    """Whether each row obeys every limit, one cell after the other."""
    limits, codec, allowed = problem.limits, problem.codec, np.ones(len(rows), np.bool_)
    missing, beyond = codec.missing(rows), np.zeros(len(rows))
    for n, f in np.ndindex(rows.shape):
        i, value, before = owner[n], rows[n, f], problem.batch.factual[owner[n], f]
        acts = changes[n, f] in (Change.ACTION, Change.HOLD)
        is_same = value == before or missing[n, f]
        says_so = changes[n, f] != Change.NONE if not is_same else changes[n, f] != Change.ACTION
        levels = codec.schema.features[f]
        is_avoided = acts and not is_same and not codec.is_number[f]
        is_avoided = is_avoided and levels.levels[int(value)] in levels.avoid
        allowed[n] &= says_so and not is_avoided and (limits.movable[i, f] or not acts)
        low, high = limits.action_lower[i, f], limits.action_upper[i, f]
        may_stay = acts and value == before and limits.lower[i, f] <= value <= limits.upper[i, f]
        if not acts:
            low, high = limits.consequence_lower[i, f], limits.consequence_upper[i, f]
        off = np.maximum(low - value, value - high) / codec.reach[f]
        beyond[n] += off if off > 0 and not may_stay else 0.0
    n_changes = np.isin(changes, (Change.ACTION, Change.HOLD)).sum(-1)
    return allowed & (beyond <= 1e-6) & (n_changes <= (problem.max_changes or len(changes)))


@pytest.mark.parametrize("max_changes", [None, 2])
@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "Int64"])
def test_what_passes_and_is_shown_agrees_with_a_loop_and_a_frame(
    banker: ProCE, max_changes: int | None, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = people(N_ROWS, seed=5).astype({"savings": dtype})
    options = Options(max_changes=max_changes, rules=RULES, ranges={"debt": (0, 80)})
    call = ProceCall(banker.fitted_, options, frame)
    problem = call.spec.problem(call.batch(np.arange(N_ROWS)))
    avoiding = problem.codec.schema.edit("school", avoid=["basic"])
    problem = replace(problem, codec=replace(problem.codec, schema=avoiding))
    assert problem.codec.avoided.any()
    owner, rows, changes = random_candidates(call, seed=1)
    if dtype == "Int64":  # which holds neither halves nor what is far away
        rows[:, 1] = call.factual[owner, 1]
    frame_rows = FrameRows(np.arange(N_ROWS), call.raw, call.layout)
    found = check_candidates(problem, frame_rows, owner, rows, changes)
    with monkeypatch.context() as patch:  # then a frame is written and read again
        patch.setattr("proce.schema.round_trip.values_in_frame", lambda codec, raw, layout: None)
        by_frame = check_candidates(problem, frame_rows, owner, rows, changes)
    for name in ("rows", "raw", "given", "is_near"):
        first, second = getattr(found.shown, name), getattr(by_frame.shown, name)
        assert np.array_equal(first, second, equal_nan=True)
    assert np.array_equal(found.passed, by_frame.passed)
    assert np.array_equal(found.probabilities, by_frame.probabilities)
    within = slowly_within_limits(problem, owner, found.shown.rows, changes)
    passed = (
        within & found.shown.is_near & (found.probabilities >= 0.5 + problem.requirement.margin)
    )
    for rule, _ in problem.rules:
        passed &= rule.violation(problem.batch.factual[owner], found.shown.rows, {}) <= 0
    assert np.array_equal(found.passed, passed)
    assert 0 < passed.sum() < N_CANDIDATES
    assert not found.shown.is_near.all()


def test_the_table_of_avoided_levels_has_a_flag_for_each_level(banker: ProCE) -> None:
    codec = banker.fitted_.codec
    schema = codec.schema.edit("school", avoid=["none", "high"])
    table = replace(codec, schema=schema).avoided
    assert table[schema.position("school")].tolist() == [True, False, True]
    assert int(table.sum()) == 2
