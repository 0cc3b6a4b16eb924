"""From a limit that blocks to the request in which it gives way.

Only what the request itself asks for can be taken back by whoever made it. The rules of the
explainer and what the schema says of a feature stay: somebody else would have to change them.
"""

import math
from collections.abc import Mapping
from typing import Any

from proce.explanation.record.counterfactuals import Blocker
from proce.schema import Codec, Continuous
from proce.schema.features.levels import find_level
from proce.server.explainer_api.handlers.role_view import RoleView

_DECIMALS = 4  # to which a probability that is asked for is cut


def patch_of(blocker: Blocker, request: Mapping[str, Any], codec: Codec) -> dict[str, Any] | None:
    """Return the fields of the request that lift a blocker; ``None`` if it is none of them."""
    value = blocker.value
    match blocker.kind:
        case "rule":
            rules = list(request.get("rules") or [])
            kept = [text for text in rules if text.strip() != blocker.name]
            return {"rules": kept} if len(kept) < len(rules) else None
        case "vary" if isinstance(value, tuple) and request.get("vary") is not None:
            return {"vary": list(dict.fromkeys([*request["vary"], *value]))}
        case "max_changes" if isinstance(value, int):
            return {"max_changes": value}
        case "min_probability" if isinstance(value, float):
            cut = math.floor(value * 10**_DECIMALS) / 10**_DECIMALS
            return {"min_probability": cut or value}
        case "robust":
            return {"robust": None}
        case "range" if value is not None:
            return _wider(blocker, request, codec)
    return None


def request_in_view(request: Mapping[str, Any], role: RoleView) -> dict[str, Any]:
    """Return the limits of a request without what a view does not show."""
    return role.options(request)


def _wider(blocker: Blocker, request: Mapping[str, Any], codec: Codec) -> dict[str, Any] | None:
    """Return the ranges of the request, one of them wide enough for the value that is needed."""
    ranges = dict(request.get("ranges") or {})
    limits = ranges.get(blocker.name)
    if limits is None or blocker.name not in codec.schema:
        return None
    feature = codec.schema[blocker.name]
    places = {
        "low": _place(feature, limits[0]),
        "value": _place(feature, blocker.value),
        "high": _place(feature, limits[1]),
    }
    if any(place is None for place in places.values()):
        return None
    low, value, high = (place for place in places.values() if place is not None)
    if low <= value <= high:  # it is the range of the schema that stands in the way
        return None
    ranges[blocker.name] = [blocker.value, limits[1]] if value < low else [limits[0], blocker.value]
    return {"ranges": ranges}


def _place(feature: Any, value: Any) -> float | None:
    """Return where a value stands in the order of a feature."""
    if isinstance(feature, Continuous):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return float(value) if is_number else None
    code = find_level(feature.levels, value)
    return None if code is None else float(code)
