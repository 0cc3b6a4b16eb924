"""A frame that fits a schema, and its columns feature by feature."""

from typing import Any

import narwhals as nw
import numpy as np

from proce.errors import SchemaError, did_you_mean
from proce.schema.cells import MISSING_LEVEL, Numbers
from proce.schema.feature import Categorical, Continuous, Feature
from proce.schema.frame import open_frame, read_levels, read_numbers
from proce.schema.levels import shown
from proce.schema.schema import Schema


def open_matching(schema: Schema, frame: Any) -> "nw.DataFrame[Any]":
    """Return a frame that has the columns of a schema, behind the interface of narwhals."""
    opened = open_frame(frame)
    known = set(schema.columns)
    if absent := [column for column in schema.columns if column not in opened.columns]:
        raise SchemaError(
            f"the frame lacks the column {absent[0]!r}; expected {shown(schema.columns)}."
            + did_you_mean(absent[0], set(opened.columns) - known)
        )
    if extra := [column for column in opened.columns if column not in known]:
        raise SchemaError(
            f"the frame has the column {extra[0]!r}, which the schema does not name; expected"
            f" {shown(schema.columns)}. Drop it, for example with frame[list(schema.columns)]."
        )
    return opened


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
