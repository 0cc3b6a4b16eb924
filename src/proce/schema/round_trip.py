"""What becomes of raw values on the way into a frame of some layout and back.

A column of whole numbers holds no halves, and one of 32 bits fewer digits. For plain columns of
pandas the values that would be read back follow from the dtypes alone, so nobody has to make a
frame to know them. :func:`proce.schema.codec.Codec.raw_of_frame` says the same of the frame.
"""

from dataclasses import dataclass
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

_LARGEST = float(np.finfo(np.float64).max)
_MISFITS = (SchemaError, TypeError, ValueError, OverflowError, IndexError)


@dataclass(frozen=True, eq=False)
class _RoundTrip:
    """How plain columns of pandas change values.

    Attributes
    ----------
    whole, ends
        The positions of the features in columns of whole numbers, and the lowest and the highest
        numbers ``(2, w)`` that these columns hold.
    single
        The positions of the features in columns of 32-bit floats.
    levels
        The positions of the features with levels.
    limits
        The lowest and the highest values ``(2, f)`` that a frame can hold, or a codec reads.
    """

    whole: NDArray[np.intp]
    ends: Numbers
    single: NDArray[np.intp]
    levels: NDArray[np.intp]
    limits: Numbers

    def __call__(self, raw: Numbers) -> Numbers | None:
        """Return what is read back of values ``(n, f)``; ``None`` where that must be tried."""
        values = raw.copy()
        values[:, self.levels] = np.trunc(values[:, self.levels])
        if len(self.single):
            values[:, self.single] = values[:, self.single].astype(np.float32)
        if len(self.whole):
            own = values[:, self.whole]
            missing = np.isnan(own).any(0)  # such a column is one of floats
            held = np.clip(np.rint(own), *self.ends)
            if bool(((np.abs(held) > MAX_EXACT_INTEGER) & ~missing).any()):
                return None
            values[:, self.whole] = np.where(missing, own, held)
        low, high = self.limits
        within = (values >= low) & (values <= high)
        return values if bool((within | np.isnan(values)).all()) else None


def values_in_frame(codec: Codec, raw: Tensor, layout: Layout) -> Tensor | None:
    """Return what a codec reads from a frame of a layout that holds values in raw units.

    The result is ``None`` where a frame must be made to know: for dtypes that are not plain, for
    frames of other libraries than pandas, and for values that cannot be read back.

    Parameters
    ----------
    codec
        The features.
    raw
        ``(n, f)``, the values in raw units and level codes.
    layout
        How the frame would look.
    """
    if layout.library is not nw.Implementation.PANDAS:
        return None
    dtypes = (layout.dtypes[column] for column in codec.schema.columns)
    trip = _TRIPS.get(_round_trip, codec, *dtypes)
    values = None if trip is None else trip(raw.numpy())
    return None if values is None else torch.from_numpy(values)


def _round_trip(codec: Codec, *dtypes: Any) -> _RoundTrip | None:
    by_column = dict(zip(codec.schema.columns, dtypes, strict=True))
    whole, single, levels = [], [], []
    limits = np.full((2, len(codec.schema)), [[-_LARGEST], [_LARGEST]])
    for position, feature in enumerate(codec.schema):
        own = [by_column[column] for column in feature.columns]
        if not isinstance(feature, Continuous):
            if not _KEEPS_LEVELS.get(_keeps_levels, feature, *own):
                return None
            levels.append(position)
            limits[:, position] = MISSING_LEVEL, len(feature.levels) - 1
        elif own[0] == np.dtype(np.float32):
            single.append(position)
        elif isinstance(own[0], np.dtype) and own[0].kind in "iu":
            whole.append(position)
        elif own[0] != np.dtype(np.float64):
            return None
    ends = [integer_ends(by_column[codec.schema.names[position]]) for position in whole]
    return _RoundTrip(
        np.array(whole, dtype=np.intp),
        np.array(ends).reshape(-1, 2).T,
        np.array(single, dtype=np.intp),
        np.array(levels, dtype=np.intp),
        limits,
    )


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


_TRIPS = Remembered[_RoundTrip | None]()
_KEEPS_LEVELS = Remembered[bool]()
