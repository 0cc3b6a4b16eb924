"""A small explainer, fitted once, and rows of any number for it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from proce import ProCE

from .. import worlds


@pytest.fixture(scope="session")
def banker() -> ProCE:
    """An explainer of the bank, with a schema read off the rows."""
    return ProCE(worlds.bank, settings=worlds.TINY).fit(worlds.people(200))


@pytest.fixture
def people(tmp_path: Path) -> Callable[[int], Path]:
    """Return what writes so many people to a Parquet file."""

    def write(n: int) -> Path:
        path = tmp_path / f"people-{n}.parquet"
        worlds.people(n, seed=1).to_parquet(path)
        return path

    return write
