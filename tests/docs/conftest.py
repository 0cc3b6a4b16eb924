"""Pages and notebooks are run in a process that computes as the oldest processor does."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest

from .comparing import NOTEBOOKS, module_at

_SECONDS = 600  # that a page may take


@pytest.fixture(scope="session")
def in_plain_process() -> Iterator[Callable[..., Any]]:
    """Calls a function elsewhere: what a processor can do is looked at when a process starts."""
    before = dict(os.environ)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:

        def call(function: Callable[..., Any], *arguments: Any) -> Any:
            return pool.submit(function, *arguments).result(_SECONDS)

        os.environ.update(module_at(NOTEBOOKS / "execute.py").PLAIN)
        try:
            call(os.getpid)
        finally:
            os.environ.clear()
            os.environ.update(before)
        yield call
