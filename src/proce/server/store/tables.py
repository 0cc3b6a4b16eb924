"""The tables, the same in SQLite and in PostgreSQL: their format, and what a row of them says."""

# Results stand in a table of their own, so that the log is listed without touching them.

# To change the tables, raise `CURRENT` and add to `STEPS` the function that turns the format before
# into the new one. It runs in the transaction that opens the database.

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    DateTime,
    Dialect,
    Index,
    Integer,
    MetaData,
    Row,
    String,
    Table,
    Text,
    TypeDecorator,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.sql import ColumnElement

from proce.errors import StoreError
from proce.server.store.record import Record, RecordFilter

METADATA = MetaData()
_NUMBER = BigInteger().with_variant(Integer(), "sqlite")  # SQLite counts only plain integers


class UtcTime(TypeDecorator[datetime]):
    """A time with a zone; SQLite, which has none, gets the time in UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time as the database takes it."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"the time {value} has no zone. Give one, e.g. {value}Z.")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the time in UTC, with its zone."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


FORMAT = Table("proce_format", METADATA, Column("version", Integer, nullable=False))

EXPLANATIONS = Table(
    "proce_explanations",
    METADATA,
    Column("number", _NUMBER, primary_key=True, autoincrement=True),  # the order of the log
    Column("id", String(32), nullable=False, unique=True),
    Column("status", String(16), nullable=False),
    Column("created", UtcTime, nullable=False),
    Column("started", UtcTime),
    Column("finished", UtcTime),
    Column("role", String(16), nullable=False),
    Column("version", String(64), nullable=False),
    Column("request", Text, nullable=False),
    Column("brief", Text, nullable=False),  # the request as the log lists it
    Column("summary", Text),
    Column("provenance", Text),
    Column("error", Text),
    Index("proce_explanations_status", "status", "number"),
    Index("proce_explanations_created", "created"),
    sqlite_autoincrement=True,  # a number is never given twice
)

RESULTS = Table(
    "proce_results",
    METADATA,
    Column("number", _NUMBER, primary_key=True, autoincrement=False),
    Column("view", String(16), primary_key=True),  # the auditor's only where it differs
    Column("size", BigInteger, nullable=False),
    Column("text", Text, nullable=False),
)

VIEWS = Table(
    "proce_views",
    METADATA,
    Column("number", _NUMBER, primary_key=True, autoincrement=True),
    Column("id", String(32), nullable=False, unique=True),
    Column("role", String(16), nullable=False),
    Column("created", UtcTime, nullable=False),
    Column("state", Text, nullable=False),
    Index("proce_views_created", "created"),
    sqlite_autoincrement=True,
)


COLUMNS = [column for column in EXPLANATIONS.c if column.name not in ("number", "brief")]
LISTED_COLUMNS = [
    EXPLANATIONS.c.brief.label("request") if column.name == "request" else column
    for column in COLUMNS
]
_JSON_COLUMNS = ("request", "summary", "provenance")

CURRENT = 1
STEPS: Mapping[int, Callable[[Connection], None]] = {}  # from this format to the next one
_MAKING = 0x70726F6366  # PostgreSQL's advisory lock while tables are made or changed


def bring_up_to_date(
    connection: Connection,
    shown: str,
    current: int = CURRENT,
    steps: Mapping[int, Callable[[Connection], None]] = STEPS,
) -> None:
    """Make the tables where there are none, or change those of an older format."""
    if connection.dialect.name == "postgresql":
        encoding = connection.scalar(text("SHOW server_encoding"))
        if encoding != "UTF8":
            raise StoreError(
                f"database {shown}: its encoding is {encoding}, which cannot hold every text."
                " Create the database with ENCODING 'UTF8'."
            )
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MAKING})
    ours = set(METADATA.tables) & set(inspect(connection).get_table_names())
    if not ours:
        METADATA.create_all(connection)
        connection.execute(insert(FORMAT).values(version=current))
        return
    versions = connection.scalars(select(FORMAT.c.version)).all() if FORMAT.name in ours else []
    if len(versions) != 1 or not isinstance(versions[0], int) or versions[0] < 1:
        raise StoreError(
            f"database {shown}: it has a table {min(ours)!r}, but not in a format that ProCE wrote."
            " Name another database."
        )
    (version,) = versions
    if version > current:
        raise StoreError(
            f"database {shown}: it has format {version} of a newer ProCE; this one knows formats"
            f" up to {current}. Upgrade ProCE, or name another database."
        )
    for older in range(version, current):
        steps[older](connection)
    if version < current:
        connection.execute(update(FORMAT).values(version=current))


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
    return conditions


def as_record(row: Row[Any]) -> Record:
    """Return the record that a row of the table holds."""
    values = {column.name: getattr(row, column.name) for column in COLUMNS}
    for name in _JSON_COLUMNS:
        values[name] = None if values[name] is None else json.loads(values[name])
    return Record(**values)
