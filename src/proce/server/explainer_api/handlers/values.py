"""Values of JSON as the cells of a row, in raw units and level codes, and frames made of them."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from proce.arrays import Array
from proce.schema import Codec, Continuous, Feature
from proce.schema.codec import frame_of_raw
from proce.schema.features.levels import find_level
from proce.schema.frames.cells import MISSING_LEVEL
from proce.schema.frames.pandas_columns import MAX_EXACT_INTEGER
from proce.server.explainer_api.errors import RequestError
from proce.server.explainer_api.handlers.names import brief, listed, near
from proce.server.explainer_api.handlers.sight import Sight

_MAX_SPANS = 1e6  # how far a number may be from those of the training rows, in widths of their bulk


def cell(sight: Sight, feature: Feature, value: Any, field: str) -> float:
    """Return a value of JSON as a number in raw units, or as the code of a level.

    Null is a missing cell, where training rows had some.
    """
    codec = sight.codec
    position = codec.schema.position(feature.name)
    if value is None:
        if not codec.may_miss[position]:
            raise RequestError(
                field,
                f"{brief(feature.name)} is missing, which it was in no row that the explainer was"
                " fitted with. Give a value.",
            )
        return math.nan if isinstance(feature, Continuous) else float(MISSING_LEVEL)
    if isinstance(feature, Continuous):
        return _number(sight, feature, value, field)
    code = find_level(feature.levels, value)
    if code is None:
        raise RequestError(
            field,
            f"{brief(value)} is no level of {brief(feature.name)}; the levels are"
            f" {listed(feature.levels)}." + near(value, feature.levels),
        )
    return float(code)


def row_of(sight: Sight, values: Mapping[str, Any], field: str, base: Array | None = None) -> Array:
    """Return a row ``(f,)`` of all features in raw units and level codes.

    Parameters
    ----------
    sight
        What the person who gives the values can see.
    values
        The values by feature.
    field
        Where the values stand in the request, for errors.
    base
        The row ``(f,)`` on top of which the values are given; ``None`` where they are all there
        is, and none may be left out.
    """
    schema = sight.whole.schema
    cells = {
        name: cell(sight, sight.feature(name, f"{field}.{name}"), value, f"{field}.{name}")
        for name, value in values.items()
    }
    if base is None:
        _refuse_absent(sight, cells, field)
        base = _nothing_known(sight.whole)
    row = base.copy()
    for name, value in cells.items():
        row[schema.position(name)] = value
    _refuse_missing(sight, row, field)
    return row


def frame_of(codec: Codec, raw: Array) -> pd.DataFrame:
    """Return rows ``(n, f)`` in raw units and level codes as a frame like the training rows."""
    frame: pd.DataFrame = frame_of_raw(codec, raw, codec.layout.without_index())
    return frame


def _number(sight: Sight, feature: Continuous, value: Any, field: str) -> float:
    name = brief(feature.name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RequestError(field, f"{name} is a number; got {brief(value)}.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise RequestError(field, f"{name} is {brief(value)}; expected a finite number.")
    codec, is_whole = sight.codec, feature.name in sight.whole_numbers
    position = codec.schema.position(feature.name)
    low, high = codec.seen_low[position].item(), codec.seen_high[position].item()
    room = _MAX_SPANS * codec.span[position].item()
    if not low - room <= number <= high + room or (is_whole and abs(number) > MAX_EXACT_INTEGER):
        raise RequestError(
            field,
            f"{name} is {brief(value)}, far beyond the {low:,.12g} to {high:,.12g} of all rows that"
            " the explainer was fitted with. Check the number and its unit.",
        )
    if is_whole and not number.is_integer():
        raise RequestError(
            field,
            f"{name} is {brief(value)}; expected a whole number, as in all rows that the explainer"
            " was fitted with.",
        )
    return number


def is_missing_by_mistake(codec: Codec, raw: Array) -> Array:
    """Return flags for the cells of rows ``(…, f)`` that are missing, and were in no training row.

    Many a model cannot answer for such a row.
    """
    return codec.missing(raw) & ~codec.may_miss


def _refuse_missing(sight: Sight, row: Array, field: str) -> None:
    """Refuse a row of the file that lacks what no training row lacked."""
    flags = is_missing_by_mistake(sight.whole, row).tolist()
    lacking = [n for n, flag in zip(sight.whole.schema.names, flags, strict=True) if flag]
    if not lacking:
        return
    told = listed([name for name in lacking if name in sight.codec.schema])
    raise RequestError(
        field,
        f"the row lacks {told or 'a value that this view does not show'}, which no row did that the"
        " explainer was fitted with. Give a value.",
    )


def _refuse_absent(sight: Sight, cells: Mapping[str, float], field: str) -> None:
    absent = [name for name in sight.names if name not in cells]
    if absent:
        raise RequestError(
            f"{field}.{absent[0]}",
            f"the row lacks {listed(absent)}; expected a value for every feature, or null where it"
            " is missing.",
        )
    flags = zip(sight.whole.schema.names, sight.whole.may_miss.tolist(), strict=True)
    shown = set(sight.names)
    must = [name for name, may_miss in flags if name not in shown and not may_miss]
    if must:
        raise RequestError(
            field,
            f"the model reads {len(must)} more feature{'s' * (len(must) > 1)} than this view shows."
            " Start from a row of the file (row_ids or row_id) and change its values, or ask as an"
            " auditor.",
        )


def _nothing_known(codec: Codec) -> Array:
    numbers = np.full_like(codec.low, math.nan)
    return np.where(codec.is_number, numbers, float(MISSING_LEVEL))
