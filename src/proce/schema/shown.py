"""Frames from raw values: what a model is asked about, and what a person gets.

Nothing here goes through the unit range, so a number that came in comes out bit for bit.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from proce.arrays import Array
from proce.schema.codec import Codec, frame_of_raw
from proce.schema.features.feature import Continuous
from proce.schema.frames.frame import open_frame, read_numbers
from proce.schema.frames.layout import Layout
from proce.schema.round_trip import values_in_frame

_N_NEIGHBOURS = 8  # doubles on either side, one of which gives a number back exactly


@dataclass(frozen=True, eq=False)
class ReadFrame:
    """What a codec reads from a frame, and that frame, which is made when somebody looks."""

    codec: Codec
    raw: Array  # (n, f), the rows of the frame in raw units and level codes
    make: Callable[[], Any]  # makes the frame

    @classmethod
    def of(cls, codec: Codec, frame: Any) -> "ReadFrame":
        """Read a frame."""
        return cls(codec, codec.raw_of_frame(frame), lambda: frame)

    @classmethod
    def holding(cls, codec: Codec, raw: Array, layout: Layout) -> "ReadFrame":
        """Return the frame of a layout that holds rows ``(n, f)`` as far as its dtypes can."""
        values = values_in_frame(codec, raw, layout) if len(raw) else raw
        if values is None:
            frame = frame_of_raw(codec, raw, layout)
            return cls(codec, codec.raw_of_frame(frame), lambda: frame)
        return cls.known(codec, values, layout)

    @classmethod
    def known(cls, codec: Codec, values: Array, layout: Layout) -> "ReadFrame":
        """Return the frame of a layout that can hold ``values (n, f)`` as they are."""
        return cls(codec, values, partial(frame_of_raw, codec, values, layout))

    @cached_property
    def frame(self) -> Any:
        """The frame."""
        return self.make()


def converted(codec: Codec, frame: Any, layout: Layout) -> Any:
    """Return the rows of a frame in a frame of another layout, with exactly the same values.

    A column of numbers that the dtype of the layout cannot hold, such as halves where the
    training rows had whole numbers, becomes a column of doubles.
    """
    raw, layout = codec.raw_of_frame(frame), layout.without_index()
    built = frame_of_raw(codec, raw, layout)
    opened = open_frame(built)
    doubles: Any = nw.Float64()
    if layout.library is nw.Implementation.PANDAS:
        doubles = np.dtype(np.float64)
    wide = dict(layout.dtypes)
    for position, feature in enumerate(codec.schema):
        if isinstance(feature, Continuous) and feature.name in layout.columns:
            now = read_numbers(opened.get_column(feature.name))
            if not np.array_equal(now, raw[:, position], equal_nan=True):
                wide[feature.name] = doubles
    if wide == layout.dtypes:
        return built
    return frame_of_raw(codec, raw, replace(layout, dtypes=wide))


def exact_entries(codec: Codec, raw: Array) -> Array:
    """Return entries that give rows ``(n, f)`` in raw units back exactly, where there are such."""
    rows = codec.to_unit(raw)
    best = rows.copy()
    missed = (codec.to_raw(rows) != raw) & ~np.isnan(raw)
    lower = upper = rows
    for _ in range(_N_NEIGHBOURS):
        if not bool(missed.any()):
            break
        lower = np.nextafter(lower, np.full_like(rows, -math.inf))
        upper = np.nextafter(upper, np.full_like(rows, math.inf))
        for near in (lower, upper):
            hit = missed & (codec.to_raw(near) == raw)
            best, missed = np.where(hit, near, best), missed & ~hit
    return best


def fresh_frame(frame: Any, columns: tuple[str, ...]) -> Any:
    """Return some columns of a frame, bit for bit, in a frame that may be written into."""
    if isinstance(frame, pd.DataFrame) and tuple(frame.columns) == columns:
        return frame.copy()
    opened: nw.DataFrame[Any] = nw.from_native(frame, eager_only=True)
    if tuple(opened.columns) != columns:
        opened = opened.select(*columns)
    return opened.clone().to_native()
