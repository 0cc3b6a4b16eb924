"""The log as text, piece by piece: lines of JSON with results, or csv without."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from sqlalchemy import Row, func, select

from proce.files import plain_cell
from proce.server.store.database import Database
from proce.server.store.record import Record, RecordFilter, time_text, to_text
from proce.server.store.tables import EXPLANATIONS, RESULTS, as_record, conditions_of

ExportFormat = Literal["jsonl", "csv"]

_BATCH = 200  # records read at a time
_MAX_CHARACTERS = 4_000_000  # of records that are in memory at a time; a longer one comes alone
_CSV_COLUMNS = (
    *("id", "status", "created", "started", "finished", "role", "version"),
    *("summary", "error", "request", "provenance"),
)


def export(database: Database, form: ExportFormat, which: RecordFilter) -> Iterator[str]:
    """Write the chosen records, the oldest first, with the results that an auditor sees."""
    if form == "csv":
        yield _csv_line(_CSV_COLUMNS)
    last = 0
    while sizes := _sizes_after(database, which, last, with_results=form == "jsonl"):
        for numbers in _groups(sizes):
            rows = _rows(database, numbers)
            if form == "csv":
                yield "".join(_csv_line(_csv_cells(as_record(row))) for row in rows)
            else:
                yield _json_lines(database, rows)
        last = sizes[-1][0]


def _sizes_after(
    database: Database, which: RecordFilter, last: int, with_results: bool
) -> list[tuple[int, int]]:
    """Return the numbers of the next records, and how long the text of each is."""
    chosen = (
        select(EXPLANATIONS.c.number, func.length(EXPLANATIONS.c.request))
        .where(EXPLANATIONS.c.number > last, *conditions_of(which))
        .order_by(EXPLANATIONS.c.number)
        .limit(_BATCH)
    )
    with database.reading() as connection:
        sizes = {number: int(size) for number, size in connection.execute(chosen)}
        if with_results and sizes:
            kept = select(RESULTS.c.number, RESULTS.c.size).where(RESULTS.c.number.in_([*sizes]))
            for number, size in connection.execute(kept):
                sizes[number] += size
    return [*sizes.items()]


def _groups(sizes: list[tuple[int, int]]) -> Iterator[list[int]]:
    """Divide records into groups that fit into memory; a longer one comes alone."""
    group: list[int] = []
    total = 0
    for number, size in sizes:
        if group and total + size > _MAX_CHARACTERS:
            yield group
            group, total = [], 0
        group.append(number)
        total += size
    yield group


def _rows(database: Database, numbers: list[int]) -> Sequence[Row[Any]]:
    """Return records by their numbers; those that retention has just removed are absent."""
    chosen = select(EXPLANATIONS).where(EXPLANATIONS.c.number.in_(numbers))
    with database.reading() as connection:
        return connection.execute(chosen.order_by(EXPLANATIONS.c.number)).all()


def _json_lines(database: Database, group: Sequence[Row[Any]]) -> str:
    chosen = (
        select(RESULTS.c.number, RESULTS.c.text)
        .where(RESULTS.c.number.in_([row.number for row in group]))
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
    csv.writer(line, lineterminator="\r\n").writerow(map(plain_cell, cells))
    return line.getvalue()
