"""Rule programs for numba: what :mod:`proce.schema.rules.tree` says, step by step."""

import numpy as np
from numpy.typing import NDArray

from proce.compiled.kernel import kernel
from proce.schema.raw_grid import raw_value
from proce.schema.rules.tree import MAX_ROUNDING_GAP, UNDEFINED_DISTANCE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

# As Step.
_CELL, _NUMBER, _ADD, _SUBTRACT, _MULTIPLY, _DIVIDE = range(6)
_AT_MOST, _ABOVE, _EQUAL, _UNEQUAL, _NOT, _AND, _OR, _IMPLIES, _RULE = range(6, 15)


@kernel
def add_violations(
    factual: Floats,  # (i, f)
    rows: Floats,  # (i, c, f)
    cells: Ints,  # (r, 3)
    units: Floats,  # (r, 5)
    steps: Ints,  # (s, 2)
    numbers: Floats,  # (s, 3)
    total: Floats,  # (i, c); added to
) -> None:
    """Add to each candidate's total what it lacks to obey each rule.

    Every step is done for all candidates of an instance before the next one.
    """
    n_candidates, n_cells = rows.shape[1], len(cells)
    values = np.empty((n_cells, n_candidates))
    quantity = np.empty((len(steps), n_candidates))
    missing = np.empty((len(steps), n_candidates), np.bool_)
    to_true, to_false = np.empty_like(quantity), np.empty_like(quantity)
    for i in range(len(rows)):
        for r in range(n_cells):
            f = cells[r, 1]
            if cells[r, 0] == 1:
                for c in range(n_candidates):
                    values[r, c] = rows[i, c, f]
            else:
                for c in range(n_candidates):
                    values[r, c] = factual[i, f]
            _read(values, r, cells[r, 2] == 1, units)
        q, t = -1, -1  # the tops of the stacks
        for s in range(len(steps)):
            step, cell = steps[s, 0], steps[s, 1]
            if step <= _NUMBER:
                q += 1
                for c in range(n_candidates):
                    quantity[q, c] = values[cell, c] if step == _CELL else numbers[s, 0]
                    missing[q, c] = np.isnan(quantity[q, c])
            elif step <= _DIVIDE:
                q -= 1
                _join(quantity, missing, q, step, numbers[s, 0])
            elif step <= _UNEQUAL:
                q -= 2
                t += 1
                _compare(quantity, missing, q + 1, step, numbers, s, to_true, to_false, t)
            elif step == _NOT:
                for c in range(n_candidates):
                    to_true[t, c], to_false[t, c] = to_false[t, c], to_true[t, c]
            elif step == _RULE:
                for c in range(n_candidates):
                    total[i, c] += to_true[t, c]
                t -= 1
            else:
                t -= 1
                _join_conditions(to_true, to_false, t, step)


@kernel
def _read(values: Floats, r: int, is_number: bool, units: Floats) -> None:
    """Write entries in raw units, or the codes of levels; NaN where they are missing."""
    for c in range(values.shape[1]):
        if is_number:
            values[r, c] = raw_value(values[r, c], units[r])
        elif values[r, c] < 0:
            values[r, c] = np.nan


@kernel
def _join(quantity: Floats, missing: Flags, q: int, step: int, zero: float) -> None:
    """Join two quantities; NaN where the divisor is zero or the result too large."""
    for c in range(quantity.shape[1]):
        left, right = quantity[q, c], quantity[q + 1, c]
        if step == _ADD:
            result = left + right
        elif step == _SUBTRACT:
            result = left - right
        elif step == _MULTIPLY:
            result = left * right
        else:
            result = np.nan if abs(right) <= zero else left / right
        quantity[q, c] = result if np.isfinite(result) else np.nan
        missing[q, c] |= missing[q + 1, c]


@kernel
def _compare(
    quantity: Floats,
    missing: Flags,
    q: int,
    step: int,
    numbers: Floats,
    s: int,
    to_true: Floats,
    to_false: Floats,
    t: int,
) -> None:
    """Write how far a comparison of two quantities is from being true and from being false."""
    unit, margin, max_gap = numbers[s, 0], numbers[s, 1], numbers[s, 2]
    is_opposite, is_order = step in (_ABOVE, _UNEQUAL), step in (_AT_MOST, _ABOVE)
    for c in range(quantity.shape[1]):
        raw = quantity[q, c] - quantity[q + 1, c]
        if missing[q, c] or missing[q + 1, c]:
            to_true[t, c], to_false[t, c] = 0.0, 0.0
            continue
        if not np.isfinite(raw):
            to_true[t, c], to_false[t, c] = UNDEFINED_DISTANCE, 0.0
            continue
        gap = min(max(raw / unit, -max_gap), max_gap)
        gap = 0.0 if abs(gap) <= MAX_ROUNDING_GAP else gap
        if is_order:
            near, far = max(gap, 0.0), margin - gap if gap <= 0 else 0.0
        else:
            near, far = abs(gap), margin if gap == 0 else 0.0
        to_true[t, c] = far if is_opposite else near
        to_false[t, c] = near if is_opposite else far


@kernel
def _join_conditions(to_true: Floats, to_false: Floats, t: int, step: int) -> None:
    """Join two conditions by ``and``, ``or`` or ``=>``."""
    for c in range(to_true.shape[1]):
        true, false = to_true[t, c], to_false[t, c]
        if step == _AND:
            to_true[t, c] = true + to_true[t + 1, c]
            to_false[t, c] = min(false, to_false[t + 1, c])
        elif step == _OR:
            to_true[t, c] = min(true, to_true[t + 1, c])
            to_false[t, c] = false + to_false[t + 1, c]
        else:
            to_true[t, c] = 0.0 if false == 0 else to_true[t + 1, c]
            to_false[t, c] = true + to_false[t + 1, c]
