"""How long ended records and saved views are kept, as the operator says."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Table, delete, or_, select, true
from sqlalchemy.sql import ColumnElement

from proce.errors import StoreError
from proce.server.store.record import ENDED
from proce.server.store.tables import EXPLANATIONS, RESULTS, VIEWS

_BATCH = 200  # removed in one transaction
_MAX_DAYS = 36_500


@dataclass(frozen=True)
class Retention:
    """What is kept. Records that have not ended are always kept."""

    days: float | None = None
    records: int | None = None  # at most so many ended records are kept, the newest; None keeps all
    views: int = 100_000  # at most so many saved views are kept, the newest

    def __post_init__(self) -> None:
        if self.days is not None and not 0 < self.days <= _MAX_DAYS:
            raise StoreError(f"retention of {self.days} days: expected more than 0, at most 36500.")
        if self.records is not None and self.records < 1:
            raise StoreError(f"retention of {self.records} records: expected at least 1.")
        if self.views < 1:
            raise StoreError(f"retention of {self.views} views: expected at least 1.")


def remove_batch(connection: Connection, retention: Retention, now: datetime) -> int:
    """Remove up to a batch of records and of views that are beyond retention, the oldest first."""
    ended = EXPLANATIONS.c.status.in_(ENDED)
    records = _beyond(connection, EXPLANATIONS, ended, retention.days, retention.records, now)
    views = _beyond(connection, VIEWS, true(), retention.days, retention.views, now)
    if records:
        connection.execute(delete(RESULTS).where(RESULTS.c.number.in_(records)))
        connection.execute(delete(EXPLANATIONS).where(EXPLANATIONS.c.number.in_(records)))
    if views:
        connection.execute(delete(VIEWS).where(VIEWS.c.number.in_(views)))
    return len(records) + len(views)


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
