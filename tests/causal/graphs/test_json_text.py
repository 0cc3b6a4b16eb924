"""Graphs as JSON of other people: read, or refused with an error of ours in a bounded time."""

import json
from typing import Any

import pytest

from proce.causal import CausalGraph
from proce.errors import GraphError


def text(**fields: Any) -> str:
    edges = [{"cause": "a", "effect": "b"}]
    return json.dumps({"format": 1, "nodes": ["a", "b"], "edges": edges} | fields)


def test_a_number_of_many_digits_is_refused() -> None:
    with pytest.raises(GraphError, match="the graph is not JSON: Exceeds the limit"):
        CausalGraph.from_json(f'{{"format": {"1" * 5_000}}}')


@pytest.mark.parametrize("share", [10**400, -(10**400), 1e300, "0.5", True])
def test_a_confidence_that_is_no_share_is_refused(share: Any) -> None:
    edges = [{"cause": "a", "effect": "b", "confidence": share}]
    with pytest.raises(GraphError, match="expected a share from 0 to 1"):
        CausalGraph.from_json(text(edges=edges))


def test_settings_that_nest_without_end_are_refused() -> None:
    settings: dict[str, Any] = {}
    for _ in range(300):
        settings = {"a": settings}
    with pytest.raises(GraphError, match="the graph's origin is"):
        CausalGraph.from_json(text(origin={"algorithm": "pc", "settings": settings}))


def test_half_a_character_is_refused() -> None:
    with pytest.raises(GraphError, match="half a character"):
        CausalGraph.from_json(text(nodes=["a", "b", "\ud800"]))


def test_a_short_text_cannot_ask_for_endless_work() -> None:
    nodes = [f"n{number}" for number in range(2_001)]
    resamples = [{"edges": [], "undirected": []}] * 500
    with pytest.raises(GraphError, match="500 resamples of 2,001 nodes each"):
        CausalGraph.from_json(text(nodes=nodes, edges=[], resamples=resamples))
