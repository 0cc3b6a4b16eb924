"""The arrays that everything between the codec and the result is made of.

Rows are float64 ``(i, f)``, their candidates ``(i, c, f)``: numbers on the unit range, levels as
codes; NaN is a missing number and -1 a missing level. The functions are what NumPy has no name for.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Words = NDArray[np.uint64]

MIN_DIFFERENCE = 1e-9  # between entries that are not the same; less is rounding
GRID_TOLERANCE = 1e-6  # of a step: what is nearer to a grid than this lies on it


def blocks(values: Array, size: int) -> list[Array]:
    """Return an array in pieces of at most ``size`` along its first axis; one where it is empty."""
    return [values[start : start + size] for start in range(0, max(1, len(values)), size)]


def flatten(values: Array, first: int, last: int) -> Array:
    """Return an array whose axes from ``first`` to ``last`` are one."""
    first, last = first % values.ndim, last % values.ndim
    joined = int(np.prod(values.shape[first : last + 1]))
    return values.reshape(*values.shape[:first], joined, *values.shape[last + 1 :])


def expand(values: Array, *shape: int) -> Array:
    """Return an array broadcast to a shape, in which -1 stands for a length that stays."""
    kept = (1,) * (len(shape) - values.ndim) + values.shape
    sizes = [own if size == -1 else size for size, own in zip(shape, kept, strict=True)]
    return np.broadcast_to(values, sizes)


def scatter(values: Array, axis: int, index: Array, given: Any) -> Array:
    """Return a copy of an array with values written at positions along an axis."""
    written = values.copy()
    np.put_along_axis(written, index, given, axis)
    return written


def cells_differ(rows: Array, others: Array, tolerance: Any = 0.0) -> Array:
    """Return which cells of rows are not those of others; two missing cells are the same.

    What does not change is kept to the last bit, so any difference counts unless values were
    computed anew.

    Shapes: rows, others ``(…, f)``.
    """
    return (np.abs(rows - others) > tolerance) | (np.isnan(rows) != np.isnan(others))


def missing_cells(cells: Any, is_number: Any) -> Any:
    """Return which cells ``(…, f)``, of features that are numbers or not ``(f,)``, are missing.

    A number is where it is NaN, a level where its code is below 0. Kernels ask it of one cell.
    """
    return (cells != cells) & is_number | (cells < 0) & ~is_number


def unit_gaps(value: Any, other: Any, reach: Any) -> Any:
    """Return how far apart two entries of a feature are on the unit range; kernels ask it, too."""
    return abs((value - other) / reach)


def inwards(low: Any, high: Any, origin: Any, step: Any) -> tuple[Any, Any]:
    """Return two ends moved inwards onto a grid, ``origin + whole number * step``."""
    first, last = steps_within(low, high, origin, step)
    return origin + first * step, origin + last * step


def steps_within(low: Any, high: Any, origin: Any, step: Any) -> tuple[Any, Any]:
    """Return how many whole steps from an origin the first and the last point between two ends are.

    An end that is off a point by rounding is that point: 0.3 / 0.1 is below 3.
    """
    first = np.ceil((low - origin) / step - GRID_TOLERANCE)
    last = np.floor((high - origin) / step + GRID_TOLERANCE)
    return first, last


def even_codes(draws: Any, count: Any) -> Any:
    """Return whole numbers from 0 to below a count, each as likely, of draws from 0 to 1."""
    return np.minimum(np.floor(draws * count), count - 1)


def lower_median(values: Array) -> Array:
    """Return the medians along the first axis, the lower of two; NaN where all is missing."""
    ordered, n_known = np.sort(values, axis=0), (~np.isnan(values)).sum(0)  # NaN comes last
    middle = np.maximum(n_known - 1, 0) // 2
    medians: Array = np.take_along_axis(ordered, middle[None], 0)[0]
    return medians


def lowest_of_each(owner: Array, key: Array) -> Ints:
    """Return the positions of the lowest key of each owner ``(n,)``, by owner; of equals the first.

    Owners are positions.
    """
    order = np.lexsort((key, owner))
    return order[np.diff(owner[order], prepend=-1) > 0]


def nth_of_owner(owner: Array) -> Ints:
    """Return which one of its owner's lines each is ``(n,)``, from 0; owners ascend."""
    return np.arange(len(owner)) - np.searchsorted(owner, owner)


def with_rows(values: Array, rows: Array, given: Array) -> Array:
    """Return a copy of an array in which some rows, given by position, are others."""
    written = values.copy()
    written[rows] = given
    return written
