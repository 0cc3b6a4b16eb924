"""What a database complained about, in words, without values and without passwords."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoFreeConnection

from proce.errors import StoreError

# Words of SQLite's messages, in the order in which they are looked for.
_OF_FILES = (
    ("locked", "another program has locked it. Close that program, or copy the file elsewhere."),
    ("readonly", "it is read-only. Make the file and its folder writable for this user."),
    (
        "unable to open",
        "the file cannot be opened. Its folder must exist and be writable for this user.",
    ),
    ("full", "the disk is full. Free some space; retention can be set to keep fewer records."),
    ("disk i/o", "the disk could not be read or written. Check the disk and its free space."),
    ("not a database", "the file is not a SQLite database. Name another file, or move this away."),
    ("malformed", "the file is damaged. Restore a copy, or move it away to begin a new one."),
)
# SQLSTATE codes of PostgreSQL.
_OF_SERVERS = {
    "28P01": "the server refused the password. Check it (or PGPASSWORD).",
    "28000": "the server refused this user. Check the user and the server's pg_hba.conf.",
    "3D000": "there is no such database on the server. Create it first.",
    "42501": "this user has no right to do that. Grant CREATE on the schema and the tables.",
    "25006": "the server is read-only. Name the primary server.",
    "53100": "the server's disk is full. Free some space there.",
    "53300": "the server has no free connection. Raise its max_connections.",
    "57P01": "the server is shutting down. Try again when it runs.",
    "57P03": "the server is starting up. Try again in a moment.",
}


@contextmanager
def in_words(shown: str) -> Iterator[None]:
    """Turn what goes wrong inside into a `StoreError` that names the database."""
    try:
        yield
    except NoFreeConnection:
        raise StoreError(
            f"database {shown}: no connection became free in time. It is overloaded; try again."
        ) from None
    except DBAPIError as error:
        raise StoreError(f"database {shown}: {_reason(error)}") from None
    except OSError as error:
        raise StoreError(f"database {shown}: {_network(error.strerror)}") from None
    except SQLAlchemyError as error:
        raise StoreError(f"database {shown}: {type(error).__name__} while it was used.") from None


def _reason(error: DBAPIError) -> str:
    """Return why the driver refused, as far as that is known, and what to do."""
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        text = str(cause).lower()
        for words, reason in _OF_FILES:
            if words in text:
                return reason
        return f"SQLite says {cause}."
    details = cause.args[0] if cause is not None and cause.args else ""
    if not isinstance(details, dict):
        return _network(None)
    code = details.get("C", "")
    return _OF_SERVERS.get(code, f"the server refused with code {code}.")


def _network(detail: str | None) -> str:
    because = f" ({detail})" if detail else ""
    return (
        f"the server cannot be reached or does not answer{because}. Check that it runs, its host"
        " and its port."
    )
