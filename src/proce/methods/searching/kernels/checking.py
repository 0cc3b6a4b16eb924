"""Which candidates obey every limit, for numba: see :mod:`proce.methods.searching.checking`."""

import numpy as np
from numpy.typing import NDArray

from proce.compiled.kernel import kernel
from proce.objective.limits import LIMIT_ROUNDING

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_ACTION, _HOLD = 1, 2  # as Change


@kernel
def obey_limits(
    owner: Ints,  # (n,)
    rows: Floats,  # (n, f)
    changes: "NDArray[np.int8]",  # (n, f)
    factual: Floats,  # (i, f)
    movable: Flags,  # (i, f)
    bounds: Floats,  # (6, i, f): lower and upper ends, those of consequences, those of actions
    reach: Floats,  # (f,)
    is_number: Flags,  # (f,)
    avoided: Flags,  # (f, l)
    max_changes: float,
    tolerance: float,
    allowed: Flags,  # (n,); written
) -> None:
    """Write which candidates, each of the instance that owns it, obey every limit."""
    for n in range(len(rows)):
        i = owner[n]
        obeys, excess, count = True, 0.0, 0
        for f in range(rows.shape[1]):
            value, before, change = rows[n, f], factual[i, f], changes[n, f]
            acts = change in (_ACTION, _HOLD)
            is_missing = np.isnan(value) if is_number[f] else value < 0
            is_same = value == before or is_missing
            obeys &= movable[i, f] or not acts
            obeys &= is_same or change != 0
            obeys &= not (is_same and change == _ACTION)
            if acts and value != before and not is_number[f] and value >= 0:
                obeys &= not avoided[f, int(value)]
            count += acts
            lowest, highest = bounds[4, i, f], bounds[5, i, f]
            below = (lowest if acts else bounds[2, i, f]) - value
            above = value - (highest if acts else bounds[3, i, f])
            beyond = (below if below > above else above) / reach[f]
            if beyond > LIMIT_ROUNDING and below == below and above == above:
                lower, upper = bounds[0, i, f], bounds[1, i, f]
                at_end = (value == lower and lower < lowest) or (value == upper and upper > highest)
                excess += 0.0 if acts and at_end else beyond
        allowed[n] = obeys and excess <= tolerance and count <= max_changes
