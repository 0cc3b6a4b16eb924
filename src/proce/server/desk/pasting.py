"""A row that somebody pastes: a line of csv, with or without its header."""

import csv
import io
from typing import Any

import pyarrow as pa

from proce.batch.reading.typed import TypedColumns
from proce.errors import ProceError
from proce.schema import Schema
from proce.server.desk.errors import RequestError
from proce.server.desk.names import brief, listed, near
from proce.server.desk.sight import Sight

MAX_CHARACTERS = 100_000
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
    lines = _lines(text)
    columns = sight.codec.schema.columns
    header, cells, notes = _matched(lines, columns)
    batch = pa.record_batch(
        {name: pa.array([cells[header.index(name)]], pa.string()) for name in columns}
    )
    try:
        typed = TypedColumns.of(sight.codec).table(batch, from_text=True)
        raw = sight.codec.raw_of_frame(typed)
    except ProceError as error:
        raise RequestError("text", str(error)) from None
    values = Sight(sight.view, sight.codec, sight.codec).values(raw)[0]
    schema: Schema = sight.codec.schema
    missing = [name for name, value in values.items() if value is None]
    for name in missing:
        if not sight.codec.may_miss[schema.position(name)]:
            raise RequestError("text", f"{brief(name)} is empty; give a value.")
    if missing:
        notes.append(f"Missing: {listed(missing)}.")
    return {"values": values, "notes": notes}


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
