"""Changes a text or a JSON record at random, as somebody careless or somebody hostile would."""

import copy
import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

MAX_BYTES = 65_536
_BYTES = (0, 9, 10, 13, 32, 34, 39, 44, 45, 48, 57, 59, 92, 127, 128, 192, 237, 255)
_NUMBERS = (
    b"0 -0 1 -1 0.5 1e-300 1e308 1e309 -1e400 nan inf 255 65536 4294967296 9007199254740993"
    b" 9223372036854775808 18446744073709551616 1" + b"0" * 40
).split()
_TEXTS = (
    *("", " ", "\n", "\0", "\ud800", "\U0001f600", "a\u0301", "<script>", "../x", "=1+1", "int8"),
    *("category", "datetime64[ns]", "found", "cpu", "meta", "x" * 300, "9" * 30, "1e400", "null"),
)
_VALUES: tuple[Any, ...] = (
    *(None, True, False, [], {}, [None], [[]], {"a": 1}, 0, -1, 1, 2, 7, 0.5, -0.0, 1e-300, 1e300),
    *(2**31, 2**53, 2**63, 2**64, 10**30, 10**400, -(10**18), *_TEXTS),
)
_PIECE = re.compile(rb"[\w.]+|[^\w\s]+")  # a word or signs
_MAX_FLOAT = 10**300
_SWELL_SHARE = 0.0003  # of the inputs that are made as long as they may be


def changed_bytes(
    content: bytes, draw: random.Random, words: Sequence[bytes], others: Sequence[bytes]
) -> bytes:
    """Return some bytes after one or more changes of short pieces.

    Parameters
    ----------
    content
        What is changed.
    draw
        Where chance comes from.
    words
        The words and signs of the language.
    others
        Other contents, of which pieces may be taken.
    """
    if draw.random() < _SWELL_SHARE:
        return _swollen(content, draw, words)
    for _ in range(draw.choice((1, 1, 1, 2, 2, 4, 8))):
        content = draw.choice(_CHANGES)(content, draw, words, others)
    return content[:MAX_BYTES]


def changed_record(content: bytes, draw: random.Random, others: Sequence[bytes]) -> bytes:
    """Return JSON text in which some values, keys or items are others."""
    try:
        record = json.loads(content)
        donor = json.loads(draw.choice(others)) if draw.random() < 0.2 else record
        for _ in range(1 + draw.randrange(3)):
            record = _with_change(record, draw, donor)
        return json.dumps(record, ensure_ascii=draw.random() < 0.5).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        return content


def _place(record: Any, draw: random.Random) -> tuple[Any, Any] | None:
    """Return a holder inside a record and one of its keys; ``None`` where there is none."""
    found = None
    while isinstance(record, dict | list) and record:
        key: Any = draw.choice(list(record)) if isinstance(record, dict) else None
        key = draw.randrange(len(record)) if key is None else key
        found = (record, key)
        if draw.random() < 0.15:
            break
        record = record[key]
    return found


def _value(draw: random.Random) -> Any:
    """Return an odd value that nothing else holds."""
    return copy.deepcopy(draw.choice(_VALUES))


def _with_change(record: Any, draw: random.Random, donor: Any) -> Any:
    place = _place(record, draw)
    if place is None:
        return _value(draw)
    holder, key = place
    value = holder[key]
    match draw.randrange(8):
        case 0:
            holder[key] = _value(draw)
        case 1:
            other = _place(donor, draw)
            holder[key] = json.loads(json.dumps(other[0][other[1]])) if other else None
        case 2:
            del holder[key]
        case 3 if isinstance(holder, list):
            holder[key:key] = [value] * (1 + draw.randrange(3))
        case 3:
            holder[draw.choice(_TEXTS)] = value
        case 4 if isinstance(holder, dict):
            holder[draw.choice([*holder, *_TEXTS])] = holder.pop(key)
        case 4:
            draw.shuffle(holder)
        case 5:
            holder[key] = _other_scalar(value, draw)
        case 6:
            for _ in range(draw.choice((1, 2, 2, 900))):
                value = [value]
            holder[key] = value
        case _:
            holder[key] = _other_scalar(value, draw)
    return record


def _other_scalar(value: Any, draw: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, float) or (isinstance(value, int) and abs(value) < _MAX_FLOAT):
        return draw.choice((value + 1, -value, value * 2, value * 0.5, str(value), 10**18))
    if isinstance(value, str):
        cut = draw.randrange(len(value) + 1)
        return value[:cut] + draw.choice(_TEXTS) + value[cut + draw.randrange(3) :]
    return _value(draw)


def _swollen(content: bytes, draw: random.Random, words: Sequence[bytes]) -> bytes:
    """Return a text as long as it may be, of one piece that is repeated."""
    start, end = _span(content, draw, 200)
    piece = content[start:end] or b" "
    if words and draw.random() < 0.5:
        piece = b" ".join(draw.choice(words) for _ in range(1 + draw.randrange(4))) + b" "
    n_bytes = draw.choice((MAX_BYTES, MAX_BYTES // 8)) - len(content)
    return content[:start] + piece * max(1, n_bytes // len(piece)) + content[start:]


def _span(content: bytes, draw: random.Random, longest: int = 32) -> tuple[int, int]:
    start = draw.randrange(len(content) + 1)
    return start, min(len(content), start + 1 + draw.randrange(longest))


def _flip(content: bytes, draw: random.Random, *_: Sequence[bytes]) -> bytes:
    if not content:
        return content
    place = draw.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << draw.randrange(8)]) + content[place + 1 :]


def _set(content: bytes, draw: random.Random, *_: Sequence[bytes]) -> bytes:
    place = draw.randrange(len(content) + 1)
    cut = place + draw.randrange(2)
    return content[:place] + bytes([draw.choice(_BYTES)]) + content[cut:]


def _cut(content: bytes, draw: random.Random, *_: Sequence[bytes]) -> bytes:
    start, end = _span(content, draw)
    return content[:start] + content[end:]


def _double(content: bytes, draw: random.Random, *_: Sequence[bytes]) -> bytes:
    start, end = _span(content, draw, 64)
    place = draw.choice((end, draw.randrange(len(content) + 1)))
    return content[:place] + content[start:end] * (1 + draw.randrange(3)) + content[place:]


def _word(
    content: bytes, draw: random.Random, words: Sequence[bytes], _others: Sequence[bytes]
) -> bytes:
    start, end = _span(content, draw, 8)
    end = draw.choice((start, end))
    word = draw.choice(_NUMBERS if not words or draw.random() < 0.2 else words)
    blank = draw.choice((b"", b" "))
    return content[:start] + blank + word + blank + content[end:]


def _other_word(
    content: bytes, draw: random.Random, words: Sequence[bytes], _others: Sequence[bytes]
) -> bytes:
    """Return the content with a word or sign replaced by another one of the language."""
    start = draw.randrange(len(content) + 1)
    piece = _PIECE.search(content, start)
    if piece is None or not words:
        return content
    return content[: piece.start()] + draw.choice(words) + content[piece.end() :]


def _splice(
    content: bytes, draw: random.Random, _words: Sequence[bytes], others: Sequence[bytes]
) -> bytes:
    other = draw.choice(others) if others else content
    start, end = _span(other, draw, 128)
    place, after = _span(content, draw, 64)
    return content[:place] + other[start:end] + content[draw.choice((place, after)) :]


_CHANGES: tuple[Callable[..., bytes], ...] = (
    *(_flip, _set, _cut, _double, _word, _other_word, _other_word, _splice),
)
