"""What genes and actions ask for, for numba; see :mod:`proce.objective.wanted`."""

import numpy as np
from numpy.typing import NDArray

from proce.compiled.kernel import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@kernel
def read_wanted(
    values: Floats,  # (i, c, g), of which the first f are the entries of a row
    by_hand: Flags,  # (i, c, f), or without entries
    factual: Floats,  # (i, f)
    movable: Flags,  # (i, f)
    switches: Ints,  # (f,), the gene that says whether a feature is acted on; 0 without
    avoided: Flags,  # (f, l)
    rows: Floats,  # (i, c, f); written
    acting: Flags,  # (i, c, f); written
) -> None:
    """Write the rows that are asked for, and which of their cells may be acted on or held.

    Without flags of what is done by hand, the features that may be acted on are read from genes.
    """
    n_instances, n_candidates, n_features = rows.shape
    is_given = by_hand.size > 0
    for i in range(n_instances):
        for c in range(n_candidates):
            for f in range(n_features):
                own, value = factual[i, f], values[i, c, f]
                if is_given:
                    acts = by_hand[i, c, f]
                    value = value if acts else own
                else:
                    acts = movable[i, f] and (switches[f] == 0 or values[i, c, switches[f]] > 0.5)
                acting[i, c, f] = acts
                is_level = 0 <= value < avoided.shape[1] and value == np.floor(value)
                leads_there = is_level and avoided[f, np.int64(value)]
                rows[i, c, f] = own if leads_there else value


@kernel
def mark_changes(rows: Floats, factual: Floats, least: float, changed: Flags) -> None:
    """Write which cells of rows ``(i, c, f)`` have moved by more than ``least``."""
    n_instances, n_candidates, n_features = rows.shape
    for i in range(n_instances):
        for c in range(n_candidates):
            for f in range(n_features):
                changed[i, c, f] = abs(rows[i, c, f] - factual[i, f]) > least
