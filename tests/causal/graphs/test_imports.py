"""What is loaded to read and write a graph."""

import subprocess
import sys

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
