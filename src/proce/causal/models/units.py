"""Columns of rows in the units of an equation and back, and what draws the noise of levels."""

from collections.abc import Sequence

import numpy as np

from proce.arrays import Array
from proce.causal.equations.mechanism import Units
from proce.schema import Codec, Continuous
from proce.schema.codec import unit_numbers
from proce.streams import Purpose, RowStreams


def in_units(codec: Codec, position: int, column: Array, units: Units) -> Array:
    """Return a column in some units; missing values as 0, which every equation can read."""
    if not isinstance(codec.schema.features[position], Continuous):
        return np.maximum(column, 0)
    column = np.nan_to_num(column, nan=0.0)
    if units == "unit":
        return column
    return codec.raw_numbers(position, np.asarray(column))


def to_unit(codec: Codec, position: int, value: Array, units: Units) -> Array:
    """Return the value that an equation in some units gave, numbers on the unit range."""
    return value if units == "unit" else np.asarray(unit_numbers(codec, position, value))


def draw_uniforms(rows: Array, seeds: Sequence[int], keys: Array | None, size: int) -> Array:
    """Return numbers ``(s, i, size)`` between 0 and 1 of each seed, from the streams of rows.

    ``keys (i,)`` are what the streams depend on beside the seed; by default the rows' positions.
    """
    keys = np.arange(len(rows)) if keys is None else keys
    streams = RowStreams.of_each(seeds, keys)
    return streams.uniforms(0, Purpose.NOISE, size).reshape(len(seeds), len(rows), size)
