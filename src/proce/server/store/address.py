"""Where the database is: a file, or a PostgreSQL server; shown without its password."""

import os
import ssl
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from proce.errors import MissingExtraError, StoreError

_EXPECTED = (
    "Give the path of a SQLite file, sqlite:///PATH, or"
    " postgresql://USER:PASSWORD@HOST:PORT/DATABASE."
)
_SERVERS = ("postgresql", "postgres", "postgresql+pg8000")
_SSL_MODES = ("disable", "prefer", "require", "verify-full")


@dataclass(frozen=True)
class Address:
    """The address of a database."""

    url: URL = field(repr=False)  # what SQLAlchemy connects to; it may hold a password
    shown: str  # what messages and logs say; it holds none
    file: Path | None  # the file of a SQLite database
    options: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, text: str | Path) -> "Address":
        """Read an address or the path of a file."""
        if isinstance(text, Path) or "://" not in text:
            return cls._of_file(str(text))
        try:
            url = make_url(text)
        except (ArgumentError, ValueError):
            raise StoreError(f"the address of the database cannot be read. {_EXPECTED}") from None
        if url.drivername in ("sqlite", "sqlite+pysqlite"):
            if url.query or url.host:
                raise StoreError(
                    "the address of a SQLite database is sqlite:///PATH, without a host and without"
                    " options. A path that begins at the root has four slashes: sqlite:////PATH."
                )
            return cls._of_file(url.database or "")
        if url.drivername in _SERVERS:
            return cls._of_server(url)
        raise StoreError(f"databases of the kind {url.drivername!r} are not supported. {_EXPECTED}")

    @classmethod
    def _of_file(cls, path: str) -> "Address":
        if path in ("", ":memory:"):
            raise StoreError(f"explanations are kept in a file, and none is named. {_EXPECTED}")
        file = Path(path).absolute()
        return cls(URL.create("sqlite", database=str(file)), str(path), file)

    @classmethod
    def _of_server(cls, url: URL) -> "Address":
        if find_spec("pg8000") is None:
            raise MissingExtraError(
                "a PostgreSQL database needs the package 'pg8000', which is not installed. Install"
                " it with pip install 'proce[postgres]'."
            )
        if not url.host or not url.database or not url.username:
            raise StoreError(f"the address names no user, host or database. {_EXPECTED}")
        mode = url.query.get("sslmode", "prefer")
        unknown = sorted(set(url.query) - {"sslmode"})
        if unknown or mode not in _SSL_MODES:
            raise StoreError(
                f"the option {(unknown or ['sslmode'])[0]!r} of the database's address is not"
                f" understood. The one option is sslmode={'|'.join(_SSL_MODES)}."
            )
        plain = URL.create(
            "postgresql+pg8000",
            username=url.username,
            password=url.password or os.environ.get("PGPASSWORD"),
            host=url.host,
            port=url.port or 5432,
            database=url.database,
        )
        host = f"[{plain.host}]" if ":" in str(plain.host) else plain.host
        shown = f"postgresql://{plain.username}@{host}:{plain.port}/{plain.database}"
        return cls(plain, shown, None, {"ssl_context": _ssl_context(str(mode))})


def _ssl_context(mode: str) -> ssl.SSLContext | bool | None:
    """Return what pg8000 takes: None tries encryption, True asks for it, False does without."""
    if mode == "verify-full":
        return ssl.create_default_context()
    return {"disable": False, "prefer": None, "require": True}[mode]
