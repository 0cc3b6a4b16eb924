"""An open database: connections, transactions, the claim of a service on it, faults in words."""

# SQLite keeps a write-ahead log, so that readers never wait. Its writes go one after the other. A
# transaction that ends a record is synced to the disk before it counts as written, which costs
# about 2 ms; the steps before it (queued, running) are not, since they are in the log that is then
# synced.

import fcntl
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from queue import Empty, Queue
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoFreeConnection

from proce.errors import StoreError
from proce.server.store.address import Address

PATIENCE_SECONDS = 10.0  # for a lock, a connection or an answer
_N_CONNECTIONS = 6  # the threads that use the store, and the claim
_CLAIM = 0x70726F6365  # PostgreSQL's advisory lock of the service that uses a database
_CLAIM_WAITS_SECONDS = (0.0, 0.1, 0.2, 0.4, 0.8)  # before each try to take that lock
_FREED_PAGES = 4096  # given back to the disk at a time: 16 MB
_T = TypeVar("_T")

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


class Database:
    """Connections to one database."""

    def __init__(self, address: Address, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self.address = address
        self._patience_seconds = patience_seconds
        self._writer = threading.Lock()
        self._claim: int | Connection | None = None
        self._is_claimed = False  # by this service, even if its connection has ended
        self._claiming = threading.Lock()
        with _in_words(address.shown):
            _make_private(address)
            self._engine = self._connect()

    def try_out(self, first: Callable[[Connection], _T]) -> _T:
        """Write with a function, for the first time: what cannot be reached is told in time."""
        # A name that is not resolved or a server that says nothing would keep a thread waiting
        # longer than its socket does; that thread is left behind.
        outcome: Queue[tuple[_T | None, BaseException | None]] = Queue()

        def attempt() -> None:
            try:
                with self.writing() as connection:
                    value = first(connection)
                outcome.put((value, None))
            except BaseException as error:
                outcome.put((None, error))

        threading.Thread(target=attempt, name="store-open", daemon=True).start()
        try:
            value, error = outcome.get(timeout=self._patience_seconds + 1)
        except Empty:
            raise StoreError(
                f"database {self.address.shown}: no answer within {self._patience_seconds:.0f} s."
                " Check that the server runs, its host and its port."
            ) from None
        if error is not None:
            raise error
        return value  # type: ignore[return-value]

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection to read with."""
        with _in_words(self.address.shown), self._checked_out() as connection:
            yield connection

    @contextmanager
    def writing(self, *, durable: bool = False) -> Iterator[Connection]:
        """Give a connection in a transaction that is committed in the end."""
        turn = self._writer if self.address.file else nullcontext()
        with _in_words(self.address.shown), turn, self._checked_out() as connection:
            connection = connection.execution_options(proce_write="FULL" if durable else "NORMAL")
            with connection.begin():
                yield connection

    def vacuum_file(self) -> bool:
        """Give some freed pages of a SQLite file back to the disk; return whether more are left."""
        # The connection is used without SQLAlchemy: the statements stand outside transactions, and
        # only a script is run to its end, where each step gives back one page.
        with _in_words(self.address.shown), self._writer, self._engine.connect() as connection:
            raw: Any = connection.connection.driver_connection
            (n_before,) = raw.execute("PRAGMA freelist_count").fetchone()
            raw.executescript(
                f"PRAGMA incremental_vacuum({_FREED_PAGES}); PRAGMA wal_checkpoint(TRUNCATE);"
            )
            (n_left,) = raw.execute("PRAGMA freelist_count").fetchone()
            # A file that another program made may not give back anything.
            return bool(0 < n_left < n_before)

    def claim(self) -> None:
        """Make this service the one that runs explanations with this database."""
        if self._claim is not None:
            return
        with _in_words(self.address.shown):
            claim = self._claim_file() if self.address.file else self._claim_server()
        if claim is None:
            raise StoreError(
                f"database {self.address.shown}: another proce serve uses it. Stop that one, or"
                " name another database."
            )
        self._claim = claim
        self._is_claimed = True

    def keep_claim(self) -> None:
        """Claim the database again where the claim ended with a server's connection."""
        with self._claiming:
            if not self._is_claimed:
                return
            if isinstance(self._claim, Connection):
                try:
                    self._claim.execute(text("SELECT 1"))
                except (DBAPIError, OSError):
                    self._claim.invalidate()
                    self._claim.close()
                    self._claim = None
            self.claim()

    def close(self) -> None:
        """Give up the claim and close all connections."""
        claim, self._claim = self._claim, None
        if isinstance(claim, Connection):
            with _in_words(self.address.shown):
                _give_up(claim)
        elif claim is not None:
            os.close(claim)
        self._engine.dispose()

    def _checked_out(self) -> Connection:
        """Return a connection that answers."""
        # SQLAlchemy makes one again where the driver says that it was dropped, not where the system
        # does: then all that are kept are given up.
        try:
            return self._engine.connect()
        except OSError:
            self._engine.dispose()
            return self._engine.connect()

    def _claim_file(self) -> int | None:
        descriptor = os.open(f"{self.address.file}.lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        return descriptor

    def _claim_server(self) -> Connection | None:
        """Take the server's lock; one that was killed a moment ago still has it for a moment."""
        connection = self._checked_out().execution_options(isolation_level="AUTOCOMMIT")
        for wait_seconds in _CLAIM_WAITS_SECONDS:
            time.sleep(wait_seconds)
            if connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": _CLAIM}):
                return connection
        connection.close()
        return None

    def _connect(self) -> Engine:
        common: dict[str, Any] = {
            "hide_parameters": True,  # values of people are in no message
            "pool_size": _N_CONNECTIONS,
            "max_overflow": 0,
            "pool_timeout": self._patience_seconds,
        }
        if self.address.file is None:
            arguments = {**self.address.options, "timeout": self._patience_seconds}
            return create_engine(
                self.address.url,
                connect_args={**arguments, "application_name": "proce"},
                pool_pre_ping=True,  # a server that was restarted is found again
                **common,
            )
        engine = create_engine(
            self.address.url, connect_args={"timeout": self._patience_seconds}, **common
        )
        event.listen(engine, "connect", _prepare_file)
        event.listen(engine, "begin", _begin_in_file)
        return engine


def _give_up(claim: Connection) -> None:
    """Unlock and end the connection that holds a claim."""
    # A server ends a connection that was closed in its own time, and the lock with it: who asks
    # next could still find it taken.
    with suppress(DBAPIError, OSError):  # it has ended already, and the lock with it
        claim.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _CLAIM})
    claim.invalidate()  # closed, not returned to the pool
    claim.close()


def _make_private(address: Address) -> None:
    """Make the file where there is none: it will hold data of people, for its owner alone."""
    if address.file is None or address.file.exists():
        return
    try:
        os.close(os.open(address.file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        pass  # another process was quicker
    except OSError as error:
        raise StoreError(
            f"database {address.shown}: the file cannot be made ({error.strerror}). Its folder must"
            " exist and be writable for this user."
        ) from None


def _prepare_file(connection: Any, _: object) -> None:
    """Set up a connection to SQLite; transactions are begun by `_begin_in_file`."""
    connection.isolation_level = None
    # Only a file without any table takes this: pages that were freed can then be given back.
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA trusted_schema = OFF")


def _begin_in_file(connection: Connection) -> None:
    """Begin a transaction; one that writes takes the file's lock at once."""
    synchronous = connection.get_execution_options().get("proce_write")
    if synchronous is None:
        connection.exec_driver_sql("BEGIN")
        return
    connection.exec_driver_sql(f"PRAGMA synchronous = {synchronous}")
    connection.exec_driver_sql("BEGIN IMMEDIATE")


@contextmanager
def _in_words(shown: str) -> Iterator[None]:
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
