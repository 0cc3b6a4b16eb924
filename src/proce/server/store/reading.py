"""Questions to the tables, as functions over a connection."""

import json
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select
from sqlalchemy.sql import ColumnElement

from proce.server.store.record import Page, Record, RecordFilter
from proce.server.store.tables import EXPLANATIONS, RESULTS

_COLUMNS = [column for column in EXPLANATIONS.c if column.name not in ("number", "brief")]
_LISTED_COLUMNS = [
    EXPLANATIONS.c.brief.label("request") if column.name == "request" else column
    for column in _COLUMNS
]
_JSON_COLUMNS = ("request", "summary", "provenance")


def record_of(connection: Connection, id: str) -> Record | None:
    """Return the record of an id, or None."""
    row = connection.execute(select(*_COLUMNS).where(EXPLANATIONS.c.id == id)).one_or_none()
    return None if row is None else as_record(row)


def page_of(connection: Connection, which: RecordFilter, limit: int, offset: int) -> Page:
    """Return a part of the log, the newest first, with brief requests."""
    conditions = conditions_of(which)
    counted = select(func.count()).select_from(EXPLANATIONS).where(*conditions)
    total = connection.scalar(counted) or 0
    chosen: Select[Any] = select(*_LISTED_COLUMNS).where(*conditions)
    newest = chosen.order_by(EXPLANATIONS.c.number.desc()).limit(limit).offset(offset)
    return Page(total, [as_record(row) for row in connection.execute(newest)])


def result_of(connection: Connection, id: str, view: str) -> str | None:
    """Return the result as a view may see it."""
    # The auditor's is kept only where it differs from the applicant's; an applicant never gets the
    # auditor's.
    views = ("applicant",) if view == "applicant" else ("applicant", "auditor")
    found = connection.execute(
        select(RESULTS.c.text)
        .join(EXPLANATIONS, EXPLANATIONS.c.number == RESULTS.c.number)
        .where(EXPLANATIONS.c.id == id, RESULTS.c.view.in_(views))
        .order_by(RESULTS.c.view.desc())  # auditor before applicant
        .limit(1)
    )
    return found.scalar_one_or_none()


def conditions_of(which: RecordFilter) -> list[ColumnElement[bool]]:
    """Return the conditions that a filter puts on records."""
    table = EXPLANATIONS.c
    conditions: list[ColumnElement[bool]] = []
    if which.status is not None:
        conditions.append(table.status == which.status)
    if which.since is not None:
        conditions.append(table.created >= which.since)
    if which.until is not None:
        conditions.append(table.created < which.until)
    if which.role is not None:
        conditions.append(table.role == which.role)
    return conditions


def as_record(row: Row[Any]) -> Record:
    """Return the record that a row of the table holds."""
    values = {column.name: getattr(row, column.name) for column in _COLUMNS}
    for name in _JSON_COLUMNS:
        values[name] = None if values[name] is None else json.loads(values[name])
    return Record(**values)
