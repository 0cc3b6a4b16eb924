"""What becomes of raw values on the way into a frame of some layout and back.

Nothing here goes through the unit range, so a number that came in comes out bit for bit. A column
of whole numbers holds no halves, and one of 32 bits fewer digits. For plain columns of pandas the
values that would be read back follow from the dtypes alone, so nobody has to make a frame to know
them. :func:`proce.schema.codec.Codec.raw_of_frame` says the same of the frame.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property, partial
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from proce.arrays import Array, Floats, Ints
from proce.compiled.kernel import kernel, part
from proce.errors import SchemaError
from proce.schema.codec import Codec, frame_of_raw
from proce.schema.features.feature import Categorical, Continuous, Ordinal
from proce.schema.frames.cells import (
    MAX_EXACT_INTEGER,
    MISSING_LEVEL,
    Remembered,
    integer_ends,
    whole_numbers,
)
from proce.schema.frames.frame import Layout, level_columns, open_frame, read_numbers
from proce.schema.matching import read_feature


class Holder(IntEnum):
    """What holds a feature in a frame."""

    DOUBLES = 0
    SINGLES = 1
    INTEGERS = 2
    LEVELS = 3


_SINGLES, _INTEGERS, _LEVELS = Holder.SINGLES.value, Holder.INTEGERS.value, Holder.LEVELS.value
_whole_number = part(whole_numbers)
_LARGEST = float(np.finfo(np.float64).max)
_FLOATS = {np.dtype(np.float64): Holder.DOUBLES, np.dtype(np.float32): Holder.SINGLES}
_MISFITS = (SchemaError, TypeError, ValueError, OverflowError, IndexError)


@dataclass(frozen=True, eq=False)
class RoundTrip:
    """How plain columns of pandas change values, as columns ``(f,)``."""

    kinds: Ints  # what holds each feature: a `Holder`
    # the ends to which columns of whole numbers clip, the first and the last code of levels, and
    # the ends of all floats
    low: Floats
    high: Floats

    def values(self, raw: Floats) -> Floats | None:
        """Return what is read back of values ``(n, f)``; ``None`` where that must be tried."""
        values = np.array(raw, np.float64, order="C")
        return values if hold(values, self.kinds, self.low, self.high) else None


def round_trip(codec: Codec, layout: Layout) -> RoundTrip | None:
    """Return how frames of a layout change values; ``None`` where frames must be made to know."""
    if layout.library is not nw.Implementation.PANDAS:
        return None
    return _TRIPS.get(_round_trip, codec, *map(layout.dtypes.__getitem__, codec.schema.columns))


def values_in_frame(
    codec: Codec,
    raw: Array,  # (n, f), the values in raw units and level codes
    layout: Layout,  # how the frame would look
) -> Array | None:
    """Return what is read from a frame of a layout; ``None`` where it must be made to know."""
    trip = round_trip(codec, layout)
    return None if trip is None else trip.values(raw)


def _round_trip(codec: Codec, *dtypes: Any) -> RoundTrip | None:
    by_column = dict(zip(codec.schema.columns, dtypes, strict=True))
    columns: list[tuple[Holder, float, float]] = []
    for feature in codec.schema:
        own = [by_column[column] for column in feature.columns]
        if not isinstance(feature, Continuous):
            if not _KEEPS_LEVELS.get(_keeps_levels, feature, *own):
                return None
            columns.append((Holder.LEVELS, MISSING_LEVEL, len(feature.levels) - 1))
        elif isinstance(own[0], np.dtype) and own[0].kind in "iu":
            columns.append((Holder.INTEGERS, *integer_ends(own[0])))
        elif own[0] in _FLOATS:
            columns.append((_FLOATS[own[0]], -_LARGEST, _LARGEST))
        else:
            return None
    kinds, low, high = (np.array(column) for column in zip(*columns, strict=True))
    return RoundTrip(kinds.astype(np.int64), low.astype(np.float64), high.astype(np.float64))


def _keeps_levels(feature: Categorical | Ordinal, *dtypes: Any) -> bool:
    """Whether each level, and a missing one, is read back from columns of these dtypes."""
    by_column = dict(zip(feature.columns, dtypes, strict=True))
    names = tuple(feature.columns)
    layout = Layout(nw.Implementation.PANDAS, names, by_column, header=pd.Index(names))
    known = np.arange(len(feature.levels), dtype=np.int32)
    try:
        return all(
            np.array_equal(
                read_feature(layout.build(level_columns(feature, codes)), feature), codes
            )
            for codes in (known, np.append(known, np.int32(MISSING_LEVEL)))
        )
    except _MISFITS:
        return False


_TRIPS = Remembered[RoundTrip | None]()
_KEEPS_LEVELS = Remembered[bool]()


@kernel
def hold(
    values: Floats,  # (n, f); written
    kinds: Ints,  # (f,)
    low: Floats,  # (f,)
    high: Floats,  # (f,)
) -> bool:
    """Change values ``(n, f)`` as columns do; return whether all can be read back."""
    is_sound = True
    for f in range(values.shape[1]):
        kind, lowest, highest = kinds[f], low[f], high[f]
        is_whole = kind == _INTEGERS
        for n in range(len(values)):
            is_whole &= not np.isnan(values[n, f])  # a cell that is missing makes it floats
        if kind == _INTEGERS and not is_whole:
            lowest, highest = -_LARGEST, _LARGEST
        for n in range(len(values)):
            value = values[n, f]
            if is_whole:
                value = _whole_number(value, lowest, highest) + 0.0  # no integer is -0.0
                is_sound &= abs(value) <= MAX_EXACT_INTEGER
            elif kind == _SINGLES:
                value = np.float64(np.float32(value))
            elif kind == _LEVELS:
                value = np.trunc(value)
            is_sound &= (lowest <= value <= highest) or np.isnan(value)
            values[n, f] = value
    return is_sound


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
