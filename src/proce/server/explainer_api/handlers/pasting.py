"""A row that somebody pastes: a line of csv, with or without its header."""

import csv
import io
from typing import Any

from proce.explanation.words.cells import plain_value
from proce.schema import Continuous, Feature, Level
from proce.schema.frames.cells import (
    MISSING_LEVEL,
    is_missing_text,
    is_number_text,
    text_level_codes,
)
from proce.server.explainer_api.errors import RequestError
from proce.server.explainer_api.handlers.names import listed, near
from proce.server.explainer_api.handlers.sight import Sight
from proce.server.explainer_api.handlers.values import cell

MAX_CHARACTERS = 100_000
_HOT = ("1", "1.0", "true", "True")
_SEPARATORS = ("\t", ";", ",", "|")


def parse_row(text: str, sight: Sight) -> dict[str, Any]:
    """Return the values of a pasted row by feature, and notes on how it was read.

    Parameters
    ----------
    text
        A line of cells, or a header and a line; between cells stand commas, semicolons, tabs or
        bars. Without a header the cells are in the order of the features. Columns of a header
        that are no features are left out.
    sight
        What the person who pastes can see.
    """
    if len(text) > MAX_CHARACTERS:
        raise RequestError(
            "text", f"it has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read."
        )
    columns = sight.codec.schema.columns
    header, cells, notes = _matched(_lines(text), columns)
    by_column = dict(zip(header, cells, strict=True))
    values: dict[str, Level | None] = {}
    for feature in sight.features:
        read = _value(feature, [by_column[column] for column in feature.columns])
        values[feature.name] = plain_value(feature, cell(sight, feature, read, "text"))
    missing = [name for name, value in values.items() if value is None]
    if missing:
        notes.append(f"Missing: {listed(missing)}.")
    return {"values": values, "notes": notes}


def _value(feature: Feature, texts: list[str]) -> Level | None:
    """Return what the cells of a feature stand for; a text that stands for nothing else, itself."""
    if len(texts) > 1:
        assert not isinstance(feature, Continuous), "a number has one column"
        hot = [level for level, text in zip(feature.levels, texts, strict=True) if text in _HOT]
        return hot[0] if len(hot) == 1 else ", ".join(texts)
    (text,) = texts
    if isinstance(feature, Continuous):
        is_number = is_number_text(text)
        return None if is_missing_text(text) else float(text) if is_number else text
    code = int(text_level_codes([text], feature.levels)[0])
    return feature.levels[code] if code >= 0 else None if code == MISSING_LEVEL else text


def _lines(text: str) -> list[list[str]]:
    """Return the first two records of a text, cut at the separator that fits best."""
    best: list[list[str]] = []
    for separator in _SEPARATORS:
        try:
            reader = csv.reader(io.StringIO(text.strip("\r\n")), delimiter=separator, strict=True)
            records = [[cell.strip() for cell in record] for record in reader if record]
        except csv.Error as error:
            raise RequestError("text", f"it cannot be read as csv: {error}.") from None
        if records and (not best or len(records[0]) > len(best[0])):
            best = records
    if not best:
        raise RequestError("text", "it is empty; expected a line of cells.")
    return best


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
