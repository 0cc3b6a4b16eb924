"""Values of a request: as cells of a row in raw units and level codes, as classes, as a paste."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from proce.arrays import Array
from proce.batch.reading.csv_dialect import separator_of
from proce.explanation.words.cells import plain_value
from proce.explanation.words.values import class_words
from proce.schema import Codec, Continuous, Feature, Level
from proce.schema.codec import frame_of_raw
from proce.schema.features.levels import find_level
from proce.schema.frames.cells import (
    MAX_EXACT_INTEGER,
    MISSING_LEVEL,
    is_missing_text,
    is_number_text,
    level_named,
)
from proce.server.explainer_api.errors import RequestError, brief, listed, near
from proce.server.explainer_api.handlers.role_view import RoleView

_MAX_SPANS = 1e6  # how far a number may be from those of the training rows, in widths of their bulk
MAX_PASTED = 100_000


def cell(role: RoleView, feature: Feature, value: Any, field: str) -> float:
    """Return a value of JSON as a number in raw units or the code of a level; null is missing."""
    codec = role.codec
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
        return _number(role, feature, value, field)
    code = find_level(feature.levels, value)
    if code is None:
        raise RequestError(
            field,
            f"{brief(value)} is no level of {brief(feature.name)}; the levels are"
            f" {listed(feature.levels)}." + near(value, feature.levels),
        )
    return float(code)


def row_of(
    role: RoleView, values: Mapping[str, Any], field: str, base: Array | None = None
) -> Array:
    """Return a row ``(f,)`` of all features in raw units and level codes."""
    schema = role.whole.schema
    cells = {
        name: cell(role, role.feature(name, f"{field}.{name}"), value, f"{field}.{name}")
        for name, value in values.items()
    }
    if base is None:
        _refuse_absent(role, cells, field)
        base = _nothing_known(role.whole)
    row = base.copy()
    for name, value in cells.items():
        row[schema.position(name)] = value
    _refuse_missing(role, row, field)
    return row


def frame_of(codec: Codec, raw: Array) -> pd.DataFrame:
    """Return rows ``(n, f)`` in raw units and level codes as a frame like the training rows."""
    frame: pd.DataFrame = frame_of_raw(codec, raw, codec.layout.without_index())
    return frame


def _number(role: RoleView, feature: Continuous, value: Any, field: str) -> float:
    name = brief(feature.name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RequestError(field, f"{name} is a number; got {brief(value)}.")
    number = float(value)
    if not math.isfinite(number):
        raise RequestError(field, f"{name} is {brief(value)}; expected a finite number.")
    codec, is_whole = role.codec, feature.name in role.whole_numbers
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
    """Return which cells ``(…, f)`` are missing that were in no training row: models may break."""
    return codec.missing(raw) & ~codec.may_miss


def _refuse_missing(role: RoleView, row: Array, field: str) -> None:
    """Refuse a row of the file that lacks what no training row lacked."""
    flags = is_missing_by_mistake(role.whole, row).tolist()
    lacking = [n for n, flag in zip(role.whole.schema.names, flags, strict=True) if flag]
    if not lacking:
        return
    told = listed([name for name in lacking if name in role.codec.schema])
    raise RequestError(
        field,
        f"the row lacks {told or 'a value that this view does not show'}, which no row did that the"
        " explainer was fitted with. Give a value.",
    )


def _refuse_absent(role: RoleView, cells: Mapping[str, float], field: str) -> None:
    absent = [name for name in role.names if name not in cells]
    if absent:
        raise RequestError(
            f"{field}.{absent[0]}",
            f"the row lacks {listed(absent)}; expected a value for every feature, or null where it"
            " is missing.",
        )
    flags = zip(role.whole.schema.names, role.whole.may_miss.tolist(), strict=True)
    shown = set(role.names)
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


def class_at(value: Any, classes: Sequence[Level], field: str) -> int:
    """Return the position of a class that is given as its value."""
    position = find_level(classes, value)
    if position is None:
        raise _unknown(value, classes, field)
    return position


def class_named(
    value: Any, classes: Sequence[Level], field: str, labels: Mapping[Level, str] | None = None
) -> int:
    """Return the position of a class that is given as its value, in text or by its words."""
    position = find_level(classes, value)
    if position is None and isinstance(value, str):
        position = level_named(value, classes, labels)
    if position is None:
        raise _unknown(value, classes, field)
    return position


def text_of(label: Level) -> str:
    """Return a class or a level as it is written in text: ``true``, ``1``, ``approved``."""
    if isinstance(label, bool):
        return str(label).lower()
    return label if isinstance(label, str) else f"{label:.12g}"


def class_choices(classes: Sequence[Level], labels: Mapping[Level, str]) -> list[dict[str, Any]]:
    """Return the classes, each with its words."""
    return [{"value": label, "label": class_words(label, labels)} for label in classes]


def _unknown(value: Any, classes: Sequence[Level], field: str) -> RequestError:
    return RequestError(
        field,
        f"{brief(value)} is no class of the model; the classes are {listed(classes)}."
        + near(value, classes),
    )


def parse_row(text: str, role: RoleView) -> dict[str, Any]:
    """Return the values of a pasted row by feature, and notes on how it was read."""
    if len(text) > MAX_PASTED:
        raise RequestError(
            "text", f"it has {len(text):,} characters; at most {MAX_PASTED:,} are read."
        )
    columns = role.codec.schema.columns
    header, cells, notes = _matched(_pasted_lines(text), columns)
    by_column = dict(zip(header, cells, strict=True))
    values: dict[str, Level | None] = {}
    for feature in role.features:
        read = _pasted_value(feature, [by_column[column] for column in feature.columns])
        values[feature.name] = plain_value(feature, cell(role, feature, read, "text"))
    missing = [name for name, value in values.items() if value is None]
    if missing:
        notes.append(f"Missing: {listed(missing)}.")
    return {"values": values, "notes": notes}


def _pasted_value(feature: Feature, texts: list[str]) -> Level | None:
    """Return what the cells of a feature stand for; a text that stands for nothing else, itself."""
    if isinstance(feature, Continuous):
        (text,) = texts
        is_number = is_number_text(text)
        return None if is_missing_text(text) else float(text) if is_number else text
    if len(texts) > 1:
        flags = [float(text) if is_number_text(text) else math.nan for text in texts]
        is_one_hot = flags.count(1) == 1 and flags.count(0) == len(flags) - 1
        return feature.levels[flags.index(1)] if is_one_hot else ", ".join(texts)
    (text,) = texts
    position = level_named(text, feature.levels)
    if position is not None:
        return feature.levels[position]
    return None if is_missing_text(text) else text


def _pasted_lines(text: str) -> list[list[str]]:
    """Return the records of a text, cut at the separator that a file of them would be cut at."""
    plain = "\n".join(text.strip("\r\n").splitlines())
    try:
        reader = csv.reader(io.StringIO(plain), delimiter=separator_of(plain), strict=True)
        lines = [[cell.strip() for cell in record] for record in reader if record]
    except csv.Error as error:
        raise RequestError("text", f"it cannot be read as csv: {error}.") from None
    if not lines:
        raise RequestError("text", "it is empty; expected a line of cells.")
    return lines


def _matched(
    lines: list[list[str]], columns: tuple[str, ...]
) -> tuple[list[str], list[str], list[str]]:
    """Return the header, the cells below it, and notes."""
    notes: list[str] = []
    first = lines[0]
    if not set(first) & set(columns):
        if len(first) != len(columns):
            raise RequestError(
                "text",
                f"the line has {len(first)} cell{'s' * (len(first) != 1)}; expected {len(columns)},"
                f" in the order {listed(columns)}, or a header above it.",
            )
        rows, header = lines, list(columns)
    else:
        header, rows = first, lines[1:]
        if absent := [name for name in columns if name not in header]:
            others = [name for name in header if name not in columns]
            hint = near(absent[0], others)
            raise RequestError("text", f"the header lacks {listed(absent)}.{hint}")
        if not rows:
            raise RequestError("text", "there is a header, and no line below it.")
        if extra := [name for name in header if name not in columns and name]:
            notes.append(f"Left out, as they are no features: {listed(extra)}.")
    if len(rows[0]) != len(header):
        raise RequestError(
            "text", f"the line has {len(rows[0])} cells, where the header has {len(header)}."
        )
    if len(rows) > 1:
        notes.append(f"Only the first of {len(rows)} lines was read.")
    return header, rows[0], notes
