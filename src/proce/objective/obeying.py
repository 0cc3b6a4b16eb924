"""Whether rows, as they are shown, obey every limit."""

import math

import numpy as np

from proce.arrays import Array, Flags, Floats
from proce.compiled.cells import is_missing
from proce.compiled.kernel import kernel
from proce.objective.limits import SHOWN_ROUNDING, Limits
from proce.objective.terms import FACTUAL, beyond_limits
from proce.schema import Codec


def obey_limits(
    limits: Limits,
    codec: Codec,
    factual: Array,
    rows: Array,
    moved: Array,
    by_hand: Array,
    max_changes: int | None = None,
) -> Flags:
    """Return which rows ``(i, c, f)`` of people ``(i, f)`` obey every limit, ``(i, c)``.

    ``moved`` and ``by_hand (i, c, f)`` say which cells are told to have moved, and are acted on or
    held.
    """
    obeys = np.empty(rows.shape[:2], np.bool_)
    write_obeying(
        np.ascontiguousarray(rows),
        np.ascontiguousarray(moved),
        np.ascontiguousarray(by_hand),
        np.ascontiguousarray(limits.movable),
        np.ascontiguousarray(limits.table(factual)),
        codec.reach,
        codec.is_number,
        codec.avoided,
        math.inf if max_changes is None else float(max_changes),
        obeys,
    )
    return obeys


@kernel
def write_obeying(
    rows: Floats,  # (i, c, f)
    moved: Flags,  # (i, c, f)
    by_hand: Flags,  # (i, c, f)
    movable: Flags,  # (i, f)
    known: Floats,  # (i, 7, f): Limits.table
    reach: Floats,  # (f,)
    is_number: Flags,  # (f,)
    avoided: Flags,  # (f, l)
    max_changes: float,
    obeys: Flags,  # (i, c); written
) -> None:
    """Write which rows obey every limit, and do with each cell what is said of it."""
    for i in range(len(rows)):
        own = known[i]
        for c in range(rows.shape[1]):
            obeys[i, c], excess, count = True, 0.0, 0
            for f in range(rows.shape[2]):
                value, before, acts = rows[i, c, f], own[FACTUAL, f], by_hand[i, c, f]
                is_same = value == before or is_missing(value, is_number[f])
                obeys[i, c] &= movable[i, f] or not acts
                obeys[i, c] &= is_same or moved[i, c, f] or acts
                obeys[i, c] &= not (is_same and moved[i, c, f] and acts)
                if acts and not is_same and not is_number[f]:
                    obeys[i, c] &= not avoided[f, int(value)]
                count += acts
                excess += beyond_limits(value, acts, own[:, f], reach[f])
            obeys[i, c] &= excess <= SHOWN_ROUNDING and count <= max_changes
