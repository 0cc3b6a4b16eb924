"""The names of ``proce.causal``, and what is loaded when they are first used."""

import subprocess
import sys

import pytest

import proce.causal

READING = """
import sys
import proce

graph = proce.CausalGraph.from_dot("digraph { a -> b [confidence=0.5] }")
assert proce.CausalGraph.from_dagitty(graph.to_dagitty()) == graph
assert proce.CausalGraph.from_json(graph.to_json()) == graph
assert proce.CausalGraph.from_dot(graph.to_dot()).confidence == graph.confidence
print(*sys.modules)
"""


def test_a_graph_is_read_without_discovery_and_what_it_needs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", READING], capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    assert "proce.causal" in loaded
    unwanted = ("scipy", "causallearn", "sklearn", "matplotlib", "proce.causal.discovery")
    assert not [name for name in loaded if name.startswith(unwanted)]


def test_every_name_is_there_and_listed() -> None:
    assert len(proce.causal.__all__) > 10
    for name in proce.causal.__all__:
        assert getattr(proce.causal, name) is not None
        assert name in dir(proce.causal)


def test_a_misspelt_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"'proce\.causal' has no attribute 'CausalGraf'"):
        proce.causal.CausalGraf  # noqa: B018
