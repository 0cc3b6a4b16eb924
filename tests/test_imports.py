"""Imports point one way. Imports inside functions and for typing count like any other."""

from collections.abc import Iterator

import grimp
import networkx as nx
import pytest


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("proce", cache_dir=None)


def cycles(graph: nx.DiGraph) -> list[list[str]]:
    parts = nx.strongly_connected_components(graph)
    return sorted(sorted(part) for part in parts if len(part) > 1)


def rooms_of(imports: grimp.ImportGraph, package: str) -> nx.DiGraph:
    """Return which of a package's modules and rooms imports which, each room as one."""
    rooms = nx.DiGraph()
    children = imports.find_children(package)
    owner = {
        module: child for child in children for module in (child, *imports.find_descendants(child))
    }
    rooms.add_nodes_from(children)
    for module, child in owner.items():
        for imported in imports.find_modules_directly_imported_by(module):
            if owner.get(imported, child) != child:
                rooms.add_edge(child, owner[imported])
    return rooms


def packages(imports: grimp.ImportGraph) -> Iterator[str]:
    return (module for module in sorted(imports.modules) if imports.find_children(module))


def test_no_module_imports_itself_on_a_detour(imports: grimp.ImportGraph) -> None:
    graph = nx.DiGraph(
        (module, imported)
        for module in imports.modules
        for imported in imports.find_modules_directly_imported_by(module)
    )
    assert len(graph) > 200
    assert cycles(graph) == []


def test_no_room_imports_itself_on_a_detour(imports: grimp.ImportGraph) -> None:
    graphs = {package: rooms_of(imports, package) for package in packages(imports)}
    assert len(graphs) > 20
    assert {package: cycles(graph) for package, graph in graphs.items() if cycles(graph)} == {}


def test_a_cycle_would_be_found() -> None:
    assert cycles(nx.DiGraph([("a", "b"), ("b", "c"), ("c", "b")])) == [["b", "c"]]
