"""Where explanations are kept: SQLite beside the explainer, or a PostgreSQL server."""

# A record is written when an explanation is asked for, and once more when it ends; an ended record
# is never changed, only removed by the operator's retention. Everything here blocks; `StoreThreads`
# is the one place that calls it for an event loop.

from proce.server.store.record import INTERRUPTED, Record, RecordFilter, Retention, Status
from proce.server.store.store import Store
from proce.server.store.threads import StoreThreads, apply_retention

__all__ = [
    "INTERRUPTED",
    "Record",
    "RecordFilter",
    "Retention",
    "Status",
    "Store",
    "StoreThreads",
    "apply_retention",
]
