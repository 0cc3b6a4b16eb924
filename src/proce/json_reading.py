"""JSON text that may come from anybody, read in one way wherever it comes from."""

import json
import math
import re
from collections.abc import Callable
from typing import Any, NoReturn

from proce.errors import ProceError

_MAX_DEPTH = 50  # of values inside one another that are kept as they are
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_TOKEN = re.compile(
    r'(?P<text>"(?:[^"\\]|\\.)*")(?P<colon>\s*:)?'
    r"|(?P<constant>-?Infinity|NaN)|(?P<number>-?\d[\d.eE+-]*)|[{}]"
)


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _number(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"{digits[:20]} is too large a number")
    return value


def parse_json(
    text: Any,
    read_constant: Callable[[str], Any] = _constant,
    read_number: Callable[[str], float] = _number,
) -> Any:
    """Return what a JSON text says, or raise a ``ValueError`` that says what is wrong, and where.

    Refused are also what JSON has no word for (NaN and the infinities), numbers that would become
    infinite, and a name that stands twice in one object, of which one value would be lost. Whoever
    refuses such numbers later, and can say in which field they stand, reads both as ``float``.
    """
    if not isinstance(text, str):
        raise ValueError(f"expected text, got {type(text).__name__}")
    try:
        text.encode()
        value = json.loads(
            text, parse_constant=read_constant, parse_float=read_number, object_pairs_hook=_object
        )
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("it holds half a character") from None
    except RecursionError:
        raise ValueError("its values are nested too deep") from None
    except json.JSONDecodeError:
        raise
    except ValueError:
        _refuse_first(text)
    return value


def is_shallow(value: Any, max_depth: int = _MAX_DEPTH) -> bool:
    """Whether values that are kept as they are nest so little that any code can go through them."""
    level = [value]
    for _ in range(max_depth):
        level = [
            item
            for holder in level
            if isinstance(holder, dict | list)
            for item in (holder.values() if isinstance(holder, dict) else holder)
        ]
        if not level:
            return True
    return False


def check_format(
    version: object, newest: int, wrong: Exception, newer: str, again: str, error: type[ProceError]
) -> None:
    """Refuse a version of a saved form that there never was, or that a later proce has written.

    ``newer`` says what has that version, and ``again`` how this proce could have written it.
    """
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise wrong
    if version > newest:
        raise error(
            f"{newer}; this version of proce reads up to {newest}. Update proce, or {again} with"
            " this version."
        )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return value


def _refuse_first(text: str) -> NoReturn:
    """Raise an error with the place of the first thing that a hook above refused."""
    names: list[set[str]] = []  # of the objects around a token, from the outermost to its own
    for token in _TOKEN.finditer(text):
        try:
            if token["constant"]:
                _constant(token[0])
            elif token["number"]:
                read = _number if set(token[0]) & set(".eE") else int
                read(token[0])
            elif token["colon"]:
                name = json.loads(token["text"])
                if name in names[-1]:
                    raise ValueError(f"the name {name[:80]!r} stands twice in one object")
                names[-1].add(name)
            elif token[0] == "{":
                names.append(set())
            elif token[0] == "}":
                names.pop()
        except ValueError as error:
            raise json.JSONDecodeError(str(error), text, token.start()) from None
    raise ValueError("it cannot be read")
