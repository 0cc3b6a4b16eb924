"""A frame that fits a schema, and its columns feature by feature."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from proce.errors import SchemaError, did_you_mean
from proce.schema.features.feature import Categorical, Continuous, Feature
from proce.schema.features.levels import shown
from proce.schema.frames.cells import MISSING_LEVEL, Numbers
from proce.schema.frames.frame import open_frame, read_levels, read_numbers
from proce.schema.schema import Schema


def only_features(schema: Schema, frame: Any) -> Any:
    """Return a frame without the columns that a schema does not name; the others in their order.

    A frame that has no other columns is returned itself.
    """
    known = set(schema.columns)
    if isinstance(frame, pd.DataFrame):
        named = [column for column in frame.columns if column in known]
        if len(set(named)) < len(known):
            open_frame(frame)  # a name that is no text may be what is wrong
            _refuse_absent(schema, named, list(frame.columns))
        return frame if len(named) == frame.shape[1] else frame[list(dict.fromkeys(named))]
    opened = open_frame(frame)
    named = [column for column in opened.columns if column in known]
    _refuse_absent(schema, named, opened.columns)
    return frame if len(named) == len(opened.columns) else opened.select(named).to_native()


def open_matching(schema: Schema, frame: Any) -> "nw.DataFrame[Any]":
    """Return the columns of a schema that a frame has, behind the interface of narwhals."""
    return open_frame(only_features(schema, frame))


def _refuse_absent(schema: Schema, named: Sequence[str], columns: Sequence[Any]) -> None:
    if absent := [column for column in schema.columns if column not in named]:
        others = {column for column in columns if isinstance(column, str)} - set(schema.columns)
        raise SchemaError(
            f"the frame lacks the column {absent[0]!r}; expected {shown(schema.columns)}."
            + did_you_mean(absent[0], others)
        )


def read_feature(opened: "nw.DataFrame[Any]", feature: Feature) -> Numbers:
    """Return a feature's column: raw numbers with NaN, or level codes with -1, where missing."""
    if isinstance(feature, Continuous):
        return read_numbers(opened[feature.name])
    if isinstance(feature, Categorical) and feature.one_hot:
        return _read_one_hot(opened, feature)
    return read_levels(opened[feature.name], feature.levels).astype(np.float64)


def _read_one_hot(opened: "nw.DataFrame[Any]", feature: Categorical) -> Numbers:
    columns = [opened[column] for column in feature.one_hot]
    flags = [c.cast(nw.Int8) if c.dtype == nw.Boolean else c for c in columns]
    hot = np.stack([read_numbers(column) for column in flags], axis=-1)  # (i, level)
    missing = np.isnan(hot).all(-1)
    sound = ((hot == 0) | (hot == 1)).all(-1) & (hot.sum(-1) == 1)
    if not (sound | missing).all():
        row = int((~(sound | missing)).argmax())
        raise SchemaError(
            f"one-hot feature {feature.name!r}: row {row} is {hot[row].tolist()} over the columns"
            f" {shown(feature.one_hot)}; expected a single 1 and 0 elsewhere."
        )
    return np.where(missing, MISSING_LEVEL, hot.argmax(-1))
