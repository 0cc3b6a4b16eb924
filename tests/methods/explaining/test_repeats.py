"""Repeating a call does not use up memory: what a call made goes when its result goes."""

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from matplotlib import pyplot

from proce import ProCE
from proce.explanation import Explanations

from ...worlds import bank

N_CALLS = 20
MAX_GROWTH = (
    20_000  # bytes a call: what caches with a bound take until full, not a result or a figure
)


def growth(call: Callable[[int], Any], n_calls: int = N_CALLS) -> float:
    """Return how many bytes of Python's memory a call leaves behind, after as many to warm up."""
    tracemalloc.start()  # before the first call: what a later one replaces is then known too
    try:
        for number in range(n_calls):
            call(number)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for number in range(n_calls, 2 * n_calls):
            call(number)
        gc.collect()
        return (tracemalloc.get_traced_memory()[0] - before) / n_calls
    finally:
        tracemalloc.stop()


@pytest.fixture
def calls(
    lender: Callable[[str], ProCE], banker: ProCE, rejected: Any, tmp_path: Path
) -> Iterator[dict[str, Callable[[int], Any]]]:
    causal = lender("hard")
    result = causal.explain(rejected[:2])
    text = result.to_json()

    def row(number: int) -> Any:
        return rejected.iloc[[number % len(rejected)]]

    def plots(_: int) -> None:
        for draw in (result.plot_changes, result.plot_cohort, result[0].plot_graph):
            pyplot.close(draw().figure)

    yield {
        "explain": lambda number: causal.explain(row(number)),
        "explain with rules": lambda number: causal.explain(
            row(number), rules=[f"cf.savings <= {100_000 + number}"]
        ),
        "what_if": lambda number: causal.what_if(row(number), {"savings": 20_000 + number}),
        "sentences": lambda _: [item.sentences() for item in result],
        "frames": lambda _: (result.to_frame(), result.changes(), result.summary()),
        "json": lambda _: Explanations.from_json(text).to_json(),
        "page": lambda _: result.save_html(tmp_path / "page.html"),
        "plots": plots,
        "save and load": lambda _: ProCE.load(banker.save(tmp_path / "saved"), model=bank),
    }
    assert pyplot.get_fignums() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("explain", "explain with rules", "what_if", "sentences", "frames", "json"),
        *("page", "plots", "save and load"),
    ],
)
def test_a_repeated_call_leaves_nothing_behind(
    calls: dict[str, Callable[[int], Any]], name: str
) -> None:
    assert growth(calls[name]) < MAX_GROWTH


def test_what_a_call_leaves_behind_is_noticed() -> None:
    kept: list[bytes] = []
    assert growth(lambda number: kept.append(bytes(40_000 + number))) > MAX_GROWTH
