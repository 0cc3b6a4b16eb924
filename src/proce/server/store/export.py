"""The log as text, piece by piece: lines of JSON with results, or csv without."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from sqlalchemy import Row, func, select

from proce.server.store.database import Database
from proce.server.store.encoding import to_text
from proce.server.store.reading import as_record, conditions_of
from proce.server.store.record import Record, RecordFilter, time_text
from proce.server.store.tables import EXPLANATIONS, RESULTS

ExportFormat = Literal["jsonl", "csv"]

_BATCH = 200  # records read at a time
_MAX_CHARACTERS = 4_000_000  # of results that are in memory at a time; a longer one comes alone
_CSV_COLUMNS = (
    *("id", "status", "created", "started", "finished", "role", "version"),
    *("summary", "error", "request", "provenance"),
)
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


def export(
    database: Database,
    form: ExportFormat,
    which: RecordFilter,
    view: Literal["applicant", "auditor"],
) -> Iterator[str]:
    """Write the chosen records, the oldest first; see `Store.export`."""
    if form == "csv":
        yield _csv_line(_CSV_COLUMNS)
    last = 0
    while batch := _batch_after(database, which, last):
        last = batch[-1].number
        if form == "csv":
            yield "".join(_csv_line(_csv_cells(as_record(row))) for row in batch)
        else:
            yield from _json_pieces(database, batch, view)


def _batch_after(database: Database, which: RecordFilter, last: int) -> Sequence[Row[Any]]:
    """Return the next records after a number."""
    chosen = (
        select(EXPLANATIONS)
        .where(EXPLANATIONS.c.number > last, *conditions_of(which))
        .order_by(EXPLANATIONS.c.number)
        .limit(_BATCH)
    )
    with database.reading() as connection:
        return connection.execute(chosen).all()


def _json_pieces(
    database: Database, batch: Sequence[Row[Any]], view: Literal["applicant", "auditor"]
) -> Iterator[str]:
    """Write records with their results, as many at a time as memory is meant for."""
    sizes = _sizes(database, [row.number for row in batch])
    group: list[Row[Any]] = []
    for row in batch:
        if group and sum(sizes.get(member.number, 0) for member in [*group, row]) > _MAX_CHARACTERS:
            yield _json_lines(database, group, view)
            group = []
        group.append(row)
    yield _json_lines(database, group, view)


def _sizes(database: Database, numbers: list[int]) -> dict[int, int]:
    """Return the length of the results of each record."""
    summed = (
        select(RESULTS.c.number, func.sum(RESULTS.c.size))
        .where(RESULTS.c.number.in_(numbers))
        .group_by(RESULTS.c.number)
    )
    with database.reading() as connection:
        return {number: int(size) for number, size in connection.execute(summed)}


def _json_lines(
    database: Database, group: list[Row[Any]], view: Literal["applicant", "auditor"]
) -> str:
    views = ("applicant",) if view == "applicant" else ("applicant", "auditor")
    chosen = (
        select(RESULTS.c.number, RESULTS.c.text)
        .where(RESULTS.c.number.in_([row.number for row in group]), RESULTS.c.view.in_(views))
        .order_by(RESULTS.c.view)  # the auditor's replaces the applicant's
    )
    with database.reading() as connection:
        results = {row.number: row.text for row in connection.execute(chosen)}
    return "".join(_json_line(as_record(row), results.get(row.number)) for row in group)


def _json_line(record: Record, result: str | None) -> str:
    """Return one line; line breaks of JSON stand between its values only, and are taken out."""
    value = "null" if result is None else result.replace("\n", "").replace("\r", "")
    return to_text(record.as_json())[:-1] + f',"result":{value}}}\n'


def _csv_cells(record: Record) -> list[str]:
    values = {
        **vars(record),
        "created": time_text(record.created),
        "started": time_text(record.started),
        "finished": time_text(record.finished),
        "summary": None if record.summary is None else to_text(record.summary),
        "provenance": None if record.provenance is None else to_text(record.provenance),
        "request": to_text(record.request),
    }
    return ["" if values[name] is None else str(values[name]) for name in _CSV_COLUMNS]


def _csv_line(cells: Sequence[str]) -> str:
    """Return a line of csv; what a spreadsheet would take for a formula begins with a quote."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(
        [f"'{cell}" if cell.startswith(_FORMULA_SIGNS) else cell for cell in cells]
    )
    return line.getvalue()
