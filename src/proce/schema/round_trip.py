"""What becomes of raw values on the way into a frame of some layout and back.

A column of whole numbers holds no halves, and one of 32 bits fewer digits. For plain columns of
pandas the values that would be read back follow from the dtypes alone, so nobody has to make a
frame to know them. :func:`proce.schema.codec.Codec.raw_of_frame` says the same of the frame.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from proce.errors import SchemaError
from proce.schema.codec import Codec
from proce.schema.features.feature import Categorical, Continuous, Ordinal
from proce.schema.frames.cells import MISSING_LEVEL, Numbers
from proce.schema.frames.layout import Layout, level_columns
from proce.schema.frames.pandas_columns import MAX_EXACT_INTEGER, integer_ends
from proce.schema.frames.remembered import Remembered
from proce.schema.matching import read_feature


class Holder(IntEnum):
    """What holds a feature in a frame."""

    DOUBLES = 0
    SINGLES = 1
    INTEGERS = 2
    LEVELS = 3


_LARGEST = float(np.finfo(np.float64).max)
_FLOATS = {np.dtype(np.float64): Holder.DOUBLES, np.dtype(np.float32): Holder.SINGLES}
_MISFITS = (SchemaError, TypeError, ValueError, OverflowError, IndexError)


@dataclass(frozen=True, eq=False)
class RoundTrip:
    """How plain columns of pandas change values, as columns ``(f,)``.

    Attributes
    ----------
    kinds
        What holds each feature: a :class:`Holder`.
    low, high
        The ends to which columns of whole numbers clip, the first and the last code of levels,
        and the ends of all floats.
    """

    kinds: NDArray[np.int64]
    low: Numbers
    high: Numbers

    def values(self, raw: Numbers) -> Numbers | None:
        """Return what is read back of values ``(n, f)``; ``None`` where that must be tried."""
        values = raw.copy()
        single, whole = self.kinds == Holder.SINGLES, self.kinds == Holder.INTEGERS
        values[:, single] = values[:, single].astype(np.float32)
        values = np.where(self.kinds == Holder.LEVELS, np.trunc(values), values)
        whole = whole & ~np.isnan(values).any(0)  # such a column becomes one of floats
        held = np.clip(np.rint(values), self.low, self.high) + 0.0  # no integer is -0.0
        values = np.where(whole, held, values)
        low = np.where(self.kinds == Holder.INTEGERS, -_LARGEST, self.low)
        high = np.where(self.kinds == Holder.INTEGERS, _LARGEST, self.high)
        low, high = (
            np.where(whole, limit, end)
            for limit, end in ((-MAX_EXACT_INTEGER, low), (MAX_EXACT_INTEGER, high))
        )
        is_sound = ((values >= low) & (values <= high)) | np.isnan(values)
        return values if bool(is_sound.all()) else None

    def values_on_device(self, raw: Tensor) -> Tensor | None:
        """Return what :meth:`values` does, of a tensor on a device."""
        kinds, low, high = (
            torch.from_numpy(own).to(raw.device) for own in (self.kinds, self.low, self.high)
        )
        values = torch.where(kinds == Holder.SINGLES, raw.float().double(), raw)
        values = torch.where(kinds == Holder.LEVELS, values.trunc(), values)
        whole = (kinds == Holder.INTEGERS) & ~values.isnan().any(0)
        held = values.round().maximum(low).minimum(high) + 0.0  # no integer is -0.0
        values = torch.where(whole, held, values)
        low = torch.where(kinds == Holder.INTEGERS, -_LARGEST, low)
        high = torch.where(kinds == Holder.INTEGERS, _LARGEST, high)
        low = torch.where(whole, float(-MAX_EXACT_INTEGER), low)
        high = torch.where(whole, float(MAX_EXACT_INTEGER), high)
        is_sound = ((values >= low) & (values <= high)) | values.isnan()
        return values if bool(is_sound.all()) else None

    def show(
        self, codec: Codec, rows: Tensor, factual: Tensor, raw: Tensor, max_move: float
    ) -> tuple[Tensor, Tensor, Tensor, Tensor] | None:
        """Return changed rows as they would stand in a frame, by a kernel.

        The result is ``None`` where a frame must be made to know.

        Parameters
        ----------
        codec
            The features and their scale.
        rows, factual, raw
            ``(n, f)``: the rows, those that they started from, and the latter in raw units.
        max_move
            How far a cell may move; one that is farther away stands as it was.

        Returns
        -------
        tuple
            ``(n, f)``: the rows without cells that are too far, what is read from the frame in
            raw units, and the same in the entries of the codec; and whether no cell of a row was
            too far, ``(n,)``.
        """
        from proce.schema.round_trip_kernel import show_rows

        given, values, entries = (torch.empty(rows.shape, dtype=torch.float64) for _ in range(3))
        is_near = torch.ones(len(rows), dtype=torch.bool)
        is_known = show_rows(
            rows.contiguous().numpy(),
            factual.contiguous().numpy(),
            raw.contiguous().numpy(),
            codec.raw_units,
            self.kinds,
            self.low,
            self.high,
            max_move,
            given.numpy(),
            values.numpy(),
            entries.numpy(),
            is_near.numpy(),
        )
        return (given, values, entries, is_near) if is_known else None


def round_trip(codec: Codec, layout: Layout) -> RoundTrip | None:
    """Return how frames of a layout change values, or ``None`` where frames must be made to know.

    That is so for dtypes that are not plain, and for frames of other libraries than pandas.
    """
    if layout.library is not nw.Implementation.PANDAS:
        return None
    return _TRIPS.get(_round_trip, codec, *map(layout.dtypes.__getitem__, codec.schema.columns))


def values_in_frame(codec: Codec, raw: Tensor, layout: Layout) -> Tensor | None:
    """Return what a codec reads from a frame of a layout that holds values in raw units.

    The result is ``None`` where a frame must be made to know: where there is no round trip, and
    for values that cannot be read back.

    Parameters
    ----------
    codec
        The features.
    raw
        ``(n, f)``, the values in raw units and level codes.
    layout
        How the frame would look.
    """
    trip = round_trip(codec, layout)
    if trip is None or not raw.is_cpu:
        return None if trip is None else trip.values_on_device(raw)
    values = trip.values(raw.numpy())
    return None if values is None else torch.from_numpy(values)


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
