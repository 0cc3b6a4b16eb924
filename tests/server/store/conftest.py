"""Stores on both kinds of database."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from proce.server.store import Store

from .postgres import empty_database, running_server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Give the address of a PostgreSQL server that runs for the session.

    Its folder is not pytest's, which only its owner may enter.
    """
    folder = Path(tempfile.mkdtemp(prefix="proce-postgres-"))
    try:
        with running_server(folder) as address:
            yield address
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty database of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'explanations.sqlite'}"
    return empty_database(request.getfixturevalue("postgres_server"))


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    """Give an open store."""
    store = Store.open(address)
    yield store
    store.close()
