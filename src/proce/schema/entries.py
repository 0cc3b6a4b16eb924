"""One value of a feature, as a person gives it."""

import sys
from typing import Any

import numpy as np

from proce.arguments import brief, is_number
from proce.errors import SchemaError, did_you_mean
from proce.schema.features.feature import Continuous, Feature
from proce.schema.features.levels import find_level, shown


def raw_of_value(feature: Feature, value: Any) -> Any:
    """Return a value as a number in raw units, or as the code of a level.

    An array holds raw numbers, or level codes already.
    """
    name = feature.name
    if isinstance(feature, Continuous):
        if isinstance(value, str | bool) or not _is_known(value):
            raise SchemaError(f"feature {name!r} is a number; got {brief(value)}.")
        return value
    if isinstance(value, np.ndarray):
        return value
    code = find_level(feature.levels, value)
    if code is None:
        raise SchemaError(
            f"feature {name!r}: unknown level {brief(value)}; known levels are"
            f" {shown(feature.levels)}." + did_you_mean(value, feature.levels)
        )
    return float(code)


def _is_known(value: Any) -> bool:
    """Whether a value is a number; NaN, and what no double can hold, are none."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biuf"
    return is_number(value) and abs(value) <= sys.float_info.max
