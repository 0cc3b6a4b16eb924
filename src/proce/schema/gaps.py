"""How far apart the cells of rows are, in kernels; see :class:`~proce.schema.MixedDistance`."""

import numpy as np

from proce.arrays import Flags, Floats, Ints
from proce.compiled.cells import cell_gap, is_missing
from proce.compiled.kernel import kernel, part


@kernel
def write_gaps(
    rows: Floats,  # (n, f)
    others: Floats,  # (n, f)
    is_number: Flags,  # (f,)
    is_level: Flags,  # (f,), compared as levels
    scale: Floats,  # (f,)
    gaps: Floats,  # (n, f); written
) -> None:
    """Write how far apart the cells of pairs of rows are."""
    for n in range(len(rows)):
        for f in range(rows.shape[1]):
            gaps[n, f] = _gap(rows[n, f], others[n, f], is_number[f], is_level[f], scale[f])


@kernel
def write_nearest(
    rows: Floats,  # (q, f)
    others: Floats,  # (n, f)
    is_number: Flags,  # (f,)
    is_level: Flags,  # (f,)
    scale: Floats,  # (f,)
    nearest: Ints,  # (q,); written
) -> None:
    """Write the position of the nearest other of each row, of equally near ones the first."""
    for q in range(len(rows)):
        least = np.inf
        for n in range(len(others)):
            total = 0.0
            for f in range(rows.shape[1]):
                total += _gap(rows[q, f], others[n, f], is_number[f], is_level[f], scale[f])
                if total >= least:
                    break
            if total < least:
                least, nearest[q] = total, n


@part
def _gap(value: float, other: float, is_number: bool, is_level: bool, scale: float) -> float:
    """Return how far apart two cells are; one that is missing is 1 away from any other."""
    missing, other_missing = is_missing(value, is_number), is_missing(other, is_number)
    if missing or other_missing:
        return 0.0 if missing and other_missing else 1.0
    return cell_gap(value, other, scale, is_level)
