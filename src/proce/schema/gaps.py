"""How far apart the cells of rows are, in kernels; see :class:`~proce.schema.MixedDistance`."""

import numpy as np

from proce.arrays import Flags, Floats, Ints
from proce.compiled.cells import cell_gap, is_missing
from proce.compiled.kernel import kernel, part


@kernel
def write_gaps(
    rows: Floats, others: Floats, is_number: Flags, is_level: Flags, scale: Floats, gaps: Floats
) -> None:
    """Write how far the cells of rows ``(n, f)`` are from those of others ``(n, f)``, ``(n, f)``.

    Flags and scales are ``(f,)``; features with ``is_level`` are compared as levels.
    """
    for n in range(len(rows)):
        for f in range(rows.shape[1]):
            gaps[n, f] = _gap(rows[n, f], others[n, f], is_number[f], is_level[f], scale[f])


@kernel
def write_neighbours(
    rows: Floats,
    others: Floats,
    is_number: Flags,
    is_level: Flags,
    scale: Floats,
    neighbours: Ints,
    totals: Floats,
) -> None:
    """Write which of others ``(n, f)`` each row ``(q, f)`` is nearest to, ``(q, k)``, and how far.

    That is in all features. The nearest come first, and of equally near ones the first. Flags and
    scales are those of `write_gaps`.
    """
    for q in range(len(rows)):
        near, least = neighbours[q], totals[q]
        least[:] = np.inf
        for n in range(len(others)):
            total = 0.0
            for f in range(rows.shape[1]):
                total += _gap(rows[q, f], others[n, f], is_number[f], is_level[f], scale[f])
                if total >= least[-1]:
                    break
            if total < least[-1]:
                place = len(least) - 1
                while place > 0 and total < least[place - 1]:
                    least[place], near[place] = least[place - 1], near[place - 1]
                    place -= 1
                least[place], near[place] = total, n


@part
def _gap(value: float, other: float, is_number: bool, is_level: bool, scale: float) -> float:
    """Return how far apart two cells are; one that is missing is 1 away from any other."""
    missing, other_missing = is_missing(value, is_number), is_missing(other, is_number)
    if missing or other_missing:
        return 0.0 if missing and other_missing else 1.0
    return cell_gap(value, other, scale, is_level)
