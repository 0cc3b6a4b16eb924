"""A client of the loan service, for the tests of a file."""

from collections.abc import Iterator

import httpx
import pytest

from ..live import LiveServer


@pytest.fixture(scope="module")
def client(live_server: LiveServer) -> Iterator[httpx.Client]:
    with live_server.client() as client:
        yield client
