"""From entries on the unit range to raw units: numbers come back exactly on their grids."""

import math

import numpy as np

from proce.arrays import Array, Floats
from proce.compiled.cells import nearest_count
from proce.compiled.kernel import kernel, part
from proce.schema.features.feature import Continuous, Feature
from proce.schema.scale import raw_units

# What turns the entries of a feature into raw units; see `Codec.raw_units`.
_SPAN, _LOW, _NUMERATOR, _DENOMINATOR, _TOLERANCE = range(5)


def raw_rows(units: Floats, rows: Array) -> Floats:
    """Return rows ``(…, f)`` in raw units; ``units`` are ``(f, 5)``."""
    raw = np.array(rows, np.float64, order="C")
    put_in_raw_units(raw.reshape(math.prod(raw.shape[:-1]), raw.shape[-1]), units)
    return raw


def on_step(feature: Feature, raw: Array) -> Array:
    """Return raw values of a feature; numbers on the nearest multiples of its step, if any.

    They are the multiples as they would be written.
    """
    if not isinstance(feature, Continuous) or feature.step is None:
        return raw
    *units, _ = raw_units(1.0, 0.0, feature.step)
    return raw_rows(np.array([[*units, np.inf]]), raw[..., None])[..., 0]


def raw_cells(units: Floats, entries: Array) -> Floats:
    """Return entries ``(n,)`` in raw units, each with ``units`` of its own ``(n, 5)``."""
    return raw_rows(units, entries[None])[0]


@kernel
def put_in_raw_units(rows: Floats, units: Floats) -> None:
    """Bring rows ``(n, f)`` into raw units ``(f, 5)``, where they are."""
    for f in range(rows.shape[1]):
        put_column_in_raw_units(rows[:, f], units[f])


@part
def put_column_in_raw_units(entries: Floats, units: Floats) -> None:
    """Bring entries ``(n,)`` of a feature into raw units ``(5,)``, where they are.

    What is next to a point of the grid is that point. Its width is a fraction: 3 / 10 is the double
    written 0.3, and 3 * 0.1 is not. A whole number off a grid of whole numbers keeps being whole.
    """
    span, low, tolerance = units[_SPAN], units[_LOW], units[_TOLERANCE]
    numerator, denominator = units[_NUMERATOR], units[_DENOMINATOR]
    keeps_whole = numerator > denominator and denominator == 1
    for n in range(len(entries)):
        raw = entries[n] * span + low
        if numerator > 0:
            counts = raw * (denominator / numerator)
            nearest, whole = nearest_count(counts), np.rint(raw)
            if abs(counts - nearest) <= tolerance:
                raw = nearest * numerator / denominator
            elif keeps_whole and abs(raw - whole) <= tolerance:
                raw = whole
        entries[n] = raw
