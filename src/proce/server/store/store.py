"""The store: every record's life, the log, saved views."""

import json
import secrets
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import (
    Connection,
    Select,
    Table,
    delete,
    func,
    insert,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.sql import ColumnElement

from proce import __version__
from proce.server.store.address import Address
from proce.server.store.database import PATIENCE_SECONDS, Database
from proce.server.store.export import ExportFormat, export
from proce.server.store.record import (
    ALL_RECORDS,
    ENDED,
    INTERRUPTED,
    UNFINISHED,
    Page,
    Record,
    RecordFilter,
    Retention,
    SavedView,
    Status,
    brief,
    plain,
    plain_json,
    to_text,
)
from proce.server.store.tables import (
    COLUMNS,
    EXPLANATIONS,
    LISTED_COLUMNS,
    RESULTS,
    VIEWS,
    as_record,
    bring_up_to_date,
    conditions_of,
)

_BATCH = 200  # records or views that are removed in one transaction


class Store:
    """Records of explanations in a database; every method blocks, in whatever thread."""

    # A method raises `StoreError`, in words, where the database cannot be used.

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, address: str | Path, patience_seconds: float = PATIENCE_SECONDS) -> "Store":
        """Open a database, and make its tables on first use."""
        database = Database(Address.read(address), patience_seconds)
        try:
            shown = database.address.shown
            database.try_out(lambda connection: bring_up_to_date(connection, shown))
        except BaseException:
            database.close()
            raise
        return cls(database)

    @property
    def address(self) -> str:
        """Where the database is, without its password."""
        return self._database.address.shown

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def interrupt_unfinished(self) -> int:
        """Claim the database for this service; mark what the one before left unfinished."""
        self._database.claim()
        with self._database.writing(durable=True) as connection:
            marked = connection.execute(
                update(EXPLANATIONS)
                .where(EXPLANATIONS.c.status.in_(UNFINISHED))
                .values(status="interrupted", finished=datetime.now(UTC), error=INTERRUPTED)
            )
            return marked.rowcount

    def create(self, request: Mapping[str, Any], role: str) -> Record:
        """Write the record of a new request, ``queued``, and return it."""
        self._database.keep_claim()
        record = Record(
            id=secrets.token_hex(16),
            status="queued",
            created=datetime.now(UTC),
            started=None,
            finished=None,
            request=dict(request),
            summary=None,
            provenance=None,
            error=None,
            role=role,
            version=__version__,
        )
        texts = {"request": to_text(record.request), "brief": to_text(brief(record.request))}
        with self._database.writing() as connection:
            connection.execute(insert(EXPLANATIONS).values({**vars(record), **texts}))
        return record

    def start(self, id: str) -> bool:
        """Mark a queued record as running; return False where it is no longer queued."""
        with self._database.writing() as connection:
            started = connection.execute(
                update(EXPLANATIONS)
                .where(EXPLANATIONS.c.id == id, EXPLANATIONS.c.status == "queued")
                .values(status="running", started=datetime.now(UTC))
            )
            return started.rowcount == 1

    def finish(
        self,
        id: str,
        *,
        results: Mapping[str, str],
        summary: Mapping[str, Any],
        provenance: Mapping[str, Any],
        started: datetime | None = None,
    ) -> bool:
        """Write the result of a record that has not ended, once."""
        # What is written outlives a power cut from then on.
        texts = {view: plain_json(result) for view, result in results.items()}
        if texts.get("auditor") == texts.get("applicant"):
            texts.pop("auditor", None)
        values = {"summary": to_text(dict(summary)), "provenance": to_text(dict(provenance))}
        with self._database.writing(durable=True) as connection:
            number = connection.execute(
                _ending(id, "done", started).values(values).returning(EXPLANATIONS.c.number)
            ).scalar_one_or_none()
            if number is None:
                return False
            rows = [
                {"number": number, "view": view, "size": len(result), "text": result}
                for view, result in texts.items()
            ]
            if rows:
                connection.execute(insert(RESULTS), rows)
            return True

    def end(
        self, id: str, status: Literal["failed", "cancelled", "interrupted"], error: str | None
    ) -> bool:
        """End a record without a result; return False where it has ended before, or is unknown."""
        words = None if error is None else plain(error)
        with self._database.writing(durable=True) as connection:
            return connection.execute(_ending(id, status).values(error=words)).rowcount == 1

    def record(self, id: str) -> Record | None:
        """Return the record of an id, or None."""
        chosen = select(*COLUMNS).where(EXPLANATIONS.c.id == id)
        with self._database.reading() as connection:
            row = connection.execute(chosen).one_or_none()
        return None if row is None else as_record(row)

    def result(self, id: str, view: Literal["applicant", "auditor"]) -> str | None:
        """Return the JSON text of a result as a view may see it, or None where there is none."""
        # The auditor's is kept only where it differs from the applicant's; an applicant never gets
        # the auditor's.
        views = ("applicant",) if view == "applicant" else ("applicant", "auditor")
        chosen = (
            select(RESULTS.c.text)
            .join(EXPLANATIONS, EXPLANATIONS.c.number == RESULTS.c.number)
            .where(EXPLANATIONS.c.id == id, RESULTS.c.view.in_(views))
            .order_by(RESULTS.c.view.desc())  # auditor before applicant
            .limit(1)
        )
        with self._database.reading() as connection:
            return connection.execute(chosen).scalar_one_or_none()

    def records(
        self, which: RecordFilter = ALL_RECORDS, *, limit: int = 50, offset: int = 0
    ) -> Page:
        """Return a part of the log, the newest first, without results."""
        # Fields of a request that are longer than 1,000 characters, such as many rows, are left
        # out: a page of the log stays small whatever was asked for.
        conditions = conditions_of(which)
        counted = select(func.count()).select_from(EXPLANATIONS).where(*conditions)
        chosen: Select[Any] = select(*LISTED_COLUMNS).where(*conditions)
        newest = chosen.order_by(EXPLANATIONS.c.number.desc()).limit(limit).offset(offset)
        with self._database.reading() as connection:
            total = connection.scalar(counted) or 0
            return Page(total, [as_record(row) for row in connection.execute(newest)])

    def export(self, form: ExportFormat, which: RecordFilter = ALL_RECORDS) -> Iterator[str]:
        """Write the log as text, piece by piece, the oldest first."""
        # Memory does not grow with the log, and no transaction stays open between pieces.
        return export(self._database, form, which)

    def save_view(self, state: Mapping[str, Any], role: str) -> str:
        """Keep a state of the page; return the id of its link."""
        id = secrets.token_hex(16)
        values = {"id": id, "role": role, "created": datetime.now(UTC), "state": to_text(state)}
        with self._database.writing() as connection:
            connection.execute(insert(VIEWS).values(values))
        return id

    def view(self, id: str) -> SavedView | None:
        """Return the state of the page that an id stands for, or None."""
        chosen = select(VIEWS.c.state, VIEWS.c.role).where(VIEWS.c.id == id)
        with self._database.reading() as connection:
            row = connection.execute(chosen).one_or_none()
        return None if row is None else SavedView(json.loads(row.state), row.role)

    def remove_batch(self, retention: Retention) -> int:
        """Remove some of what is beyond retention; return how much, zero when nothing is left."""
        with self._database.writing() as connection:
            now = datetime.now(UTC)
            ended = EXPLANATIONS.c.status.in_(ENDED)
            records = _beyond(
                connection, EXPLANATIONS, ended, retention.days, retention.records, now
            )
            views = _beyond(connection, VIEWS, true(), retention.days, retention.views, now)
            if records:
                connection.execute(delete(RESULTS).where(RESULTS.c.number.in_(records)))
                connection.execute(delete(EXPLANATIONS).where(EXPLANATIONS.c.number.in_(records)))
            if views:
                connection.execute(delete(VIEWS).where(VIEWS.c.number.in_(views)))
            return len(records) + len(views)

    def give_back_space(self) -> bool:
        """Give some freed pages of a SQLite file back to the disk; return whether more are left."""
        # PostgreSQL does so by itself.
        return self._database.address.file is not None and self._database.vacuum_file()


def _ending(id: str, status: Status, started: datetime | None = None) -> Any:
    """Return the update that ends a record, on the condition that it has not ended."""
    begun = func.coalesce(EXPLANATIONS.c.started, started)
    return (
        update(EXPLANATIONS)
        .where(EXPLANATIONS.c.id == id, EXPLANATIONS.c.status.in_(UNFINISHED))
        .values(status=status, finished=datetime.now(UTC), started=begun)
    )


def _beyond(
    connection: Connection,
    table: Table,
    removable: ColumnElement[bool],
    days: float | None,
    at_most: int | None,
    now: datetime,
) -> list[Any]:
    """Return the numbers of the oldest lines that are too old or too many."""
    reasons: list[ColumnElement[bool]] = []
    if days is not None:
        reasons.append(table.c.created < now - timedelta(days=days))
    if at_most is not None:
        newest = select(table.c.number).where(removable).order_by(table.c.number.desc())
        surplus = connection.scalar(newest.offset(at_most).limit(1))
        if surplus is not None:
            reasons.append(table.c.number <= surplus)
    if not reasons:
        return []
    chosen = select(table.c.number).where(removable, or_(*reasons)).order_by(table.c.number)
    return list(connection.scalars(chosen.limit(_BATCH)))
