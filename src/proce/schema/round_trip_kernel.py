"""Changed rows as they stand in a frame, for numba: what :mod:`proce.schema.round_trip` says."""

import numpy as np
from numpy.typing import NDArray

from proce.compiled.kernel import kernel
from proce.schema.frames.pandas_columns import MAX_EXACT_INTEGER

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

# As Holder.
_SINGLES, _INTEGERS, _LEVELS = 1, 2, 3
_LARGEST = np.finfo(np.float64).max


@kernel
def show_rows(
    rows: Floats,  # (n, f)
    factual: Floats,  # (n, f)
    raw: Floats,  # (n, f)
    units: Floats,  # (f, 5)
    kinds: Ints,  # (f,)
    low: Floats,  # (f,)
    high: Floats,  # (f,)
    max_move: float,
    given: Floats,  # (n, f); written
    shown: Floats,  # (n, f); written
    entries: Floats,  # (n, f); written
    is_near: Flags,  # (n,); set where a cell is too far
) -> bool:
    """Write rows without cells that are too far, and what is read from their frame.

    Returns whether that is known without making the frame.
    """
    is_known = True
    for f in range(rows.shape[1]):
        kind, lowest, highest = kinds[f], low[f], high[f]
        is_whole = kind == _INTEGERS
        for n in range(len(rows)):
            value, before = rows[n, f], factual[n, f]
            if abs(value - before) > max_move:
                value = before
                is_near[n] = False
            given[n, f] = value
            shown[n, f] = raw[n, f] if value == before else _to_raw(value, units, f)
            is_whole &= not np.isnan(shown[n, f])  # a cell that is missing makes it floats
        if kind == _INTEGERS and not is_whole:
            lowest, highest = -_LARGEST, _LARGEST
        for n in range(len(rows)):
            value = shown[n, f]
            if is_whole:
                value = min(max(np.rint(value), lowest), highest) + 0.0  # no integer is -0.0
                is_known &= abs(value) <= MAX_EXACT_INTEGER
            elif kind == _SINGLES:
                value = np.float64(np.float32(value))
            elif kind == _LEVELS:
                value = np.trunc(value)
            is_known &= (lowest <= value <= highest) or np.isnan(value)
            shown[n, f] = value
            entries[n, f] = (value - units[f, 1]) / units[f, 0]
    return is_known


@kernel
def _to_raw(unit: float, units: Floats, f: int) -> float:
    """Return an entry of a feature in raw units."""
    raw = unit * units[f, 0] + units[f, 1]
    numerator, denominator, tolerance = units[f, 2], units[f, 3], units[f, 4]
    if numerator == 0:
        return float(raw)
    counts = raw * (denominator / numerator)
    nearest = np.rint(counts)
    if abs(counts - nearest) <= tolerance:
        return float(nearest * numerator / denominator)
    whole = np.rint(raw)
    keeps_whole = numerator > denominator and denominator == 1
    return float(whole if keeps_whole and abs(raw - whole) <= tolerance else raw)
