"""JSON text that may come from anybody."""

import json
import re
from typing import Any, NoReturn

_MAX_DEPTH = 50  # of values inside one another that are kept as they are
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: Any) -> Any:
    """Return what a JSON text says."""
    if not isinstance(text, str):
        raise ValueError(f"expected text, got {type(text).__name__}")
    try:
        text.encode()
        value = json.loads(text, parse_constant=_refuse_constant)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("it holds half a character") from None
    except RecursionError:
        raise ValueError("its values are nested too deep") from None
    return value


def is_shallow(value: Any) -> bool:
    """Whether values that are kept as they are nest so little that any code can go through them."""
    level = [value]
    for _ in range(_MAX_DEPTH):
        level = [
            item
            for holder in level
            if isinstance(holder, dict | list)
            for item in (holder.values() if isinstance(holder, dict) else holder)
        ]
        if not level:
            return True
    return False


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")
