"""The drawing of a graph: layered, readable, and without side effects."""

from collections.abc import Iterator
from itertools import combinations

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from proce.causal import CausalGraph
from proce.datasets import load_dataset


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    yield
    plt.close("all")


@st.composite
def graphs(draw: st.DrawFn) -> CausalGraph:
    nodes = [f"feature {n}" for n in range(draw(st.integers(1, 12)))]
    pairs = list(combinations(nodes, 2))
    kinds = draw(st.lists(st.sampled_from("nnnel"), min_size=len(pairs), max_size=len(pairs)))
    return CausalGraph(
        [pair for pair, kind in zip(pairs, kinds, strict=True) if kind == "e"],
        nodes,
        undirected=[pair for pair, kind in zip(pairs, kinds, strict=True) if kind == "l"],
    )


def boxes(ax: plt.Axes) -> list[np.ndarray]:
    """Left, low, right, high of every node."""
    patches = [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]
    return [
        np.array([b.get_x(), b.get_y(), b.get_x() + b.get_width(), b.get_y() + b.get_height()])
        for b in patches
    ]


def routes(ax: plt.Axes) -> list[np.ndarray]:
    """Points along every edge, without its ends."""
    patches = [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]
    return [along(patch._path_original) for patch in patches]


def along(path: mpl.path.Path) -> np.ndarray:
    points = []
    for curve, code in path.iter_bezier():
        if code != mpl.path.Path.MOVETO:
            points.append(curve(np.linspace(0, 1, 30)))
    return np.concatenate(points)[1:-1]


def assert_readable(ax: plt.Axes) -> None:
    for one, other in combinations(boxes(ax), 2):
        apart = (one[2:] < other[:2]).any() or (other[2:] < one[:2]).any()
        assert apart
    for box in boxes(ax):
        for points in routes(ax):
            inside = (points > box[:2] + 1e-6) & (points < box[2:] - 1e-6)
            assert not inside.all(1).any()


@settings(max_examples=30)
@given(graphs())
def test_boxes_do_not_overlap_and_no_edge_runs_through_a_box(graph: CausalGraph) -> None:
    ax = graph.plot()
    try:
        assert len(boxes(ax)) == len(graph.nodes)
        assert len(routes(ax)) == len(graph.edges) + len(graph.undirected)
        assert_readable(ax)
    finally:
        plt.close(ax.figure)


@pytest.mark.parametrize("name", ["loan", "sangiovese"])
def test_the_graphs_of_the_data_sets_are_readable(name: str) -> None:
    graph = load_dataset(name, n=200).graph
    ax = graph.plot(title=name)
    assert len(routes(ax)) == len(graph.edges)
    assert_readable(ax)
    assert ax.get_title() == name
    ax.figure.canvas.draw()
    for text, box in zip(ax.texts, boxes(ax), strict=True):
        words = text.get_window_extent().transformed(ax.transData.inverted())
        assert words.x0 > box[0]
        assert words.x1 < box[2]
        assert text.get_fontsize() >= 8


def test_causes_stand_left_of_effects() -> None:
    graph = CausalGraph([("a", "b"), ("b", "c"), ("a", "c"), ("d", "c")])
    ax = graph.plot()
    left = {text.get_text(): text.get_position()[0] for text in ax.texts}
    assert left["a"] < left["b"] == left["d"] < left["c"]  # roots stand next to their effect


def test_edges_are_as_thick_as_they_are_certain_and_open_pairs_are_dashed() -> None:
    graph = CausalGraph(
        [("a", "b"), ("a", "c")],
        confidence={("a", "b"): 1.0, ("a", "c"): 0.2},
        undirected=[("b", "c")],
    )
    ax = graph.plot()
    sure, doubtful, undirected = [p for p in ax.patches if isinstance(p, FancyArrowPatch)]
    assert sure.get_linewidth() > 2 * doubtful.get_linewidth()
    assert sure.get_linestyle() == "-"
    assert undirected.get_linestyle() != "-"


def test_given_axes_are_used_and_returned_and_nothing_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plt, "show", lambda *_: pytest.fail("a plot was shown"))
    figure, ax = plt.subplots(figsize=(2, 2))
    open_figures = plt.get_fignums()
    assert CausalGraph([("a", "b")], nodes=["a", "b", "$lone_$"]).plot(ax=ax) is ax
    assert plt.get_fignums() == open_figures
    figure.canvas.draw()  # a dollar sign in a name starts no formula


def test_a_graph_without_edges_or_nodes_can_be_drawn() -> None:
    for graph in (CausalGraph([]), CausalGraph([], nodes=["a long name " * 10])):
        ax = graph.plot()
        ax.figure.canvas.draw()
