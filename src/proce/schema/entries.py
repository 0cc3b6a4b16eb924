"""One value of a feature as it stands in a row."""

import sys
from typing import TYPE_CHECKING, Any

from torch import Tensor

from proce.arguments import brief, is_number
from proce.errors import SchemaError, did_you_mean
from proce.schema.features.feature import Continuous
from proce.schema.features.levels import find_level, shown

if TYPE_CHECKING:
    from proce.schema.codec import Codec


def entry_of(codec: "Codec", name: str, value: Any) -> float | Tensor:
    """Return a raw number or a level as it stands in a row.

    A tensor holds raw numbers, or level codes, which are entries already.
    """
    position = codec.schema.position(name)
    feature = codec.schema.features[position]
    if isinstance(feature, Continuous):
        if isinstance(value, str | bool) or not _is_known(value):
            raise SchemaError(f"feature {name!r} is a number; got {brief(value)}.")
        entry: float | Tensor = (value - codec.low[position].item()) / codec.span[position].item()
        return entry
    if isinstance(value, Tensor):
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
    if isinstance(value, Tensor):
        return not (value.is_complex() or value.is_meta)
    return is_number(value) and abs(value) <= sys.float_info.max
