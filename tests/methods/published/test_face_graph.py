"""The graph of FACE by hand, and its paths beside those of networkx in the graph of its source."""

import math
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KernelDensity

from proce.arrays import Floats
from proce.methods import Face, FaceSettings
from proce.methods.published.face import (
    EdgeWeights,
    default_epsilon,
    nearest_neighbours,
    neighbour_graph,
    points_of,
)
from proce.schema import Categorical, Codec, Continuous, Ordinal, Schema

ON_A_LINE = np.array([[0.0], [0.1], [0.3], [0.7]])


def points(*rows: list[float]) -> Floats:
    return np.array(rows, np.float64)


def test_k_neighbours_give_the_density_of_a_ball_of_the_edges_length() -> None:
    """4 of 100 points in a disc of radius 0.5: z = 4 / (100 * pi * 0.25), f = log(1 + z^(-1/2))."""
    density = 4 / (100 * math.pi * 0.25)
    weight = EdgeWeights.by_neighbours(2, n_points=100, k=4)(points([0, 0]), points([0.3, 0.4]))
    assert weight.item() == pytest.approx(0.5 * math.log(1 + density**-0.5))


def test_an_edge_as_long_as_epsilon_has_a_density_of_one() -> None:
    weight = EdgeWeights(3, 0.25)(points([0, 0, 0], [0, 0, 0]), points([0.25, 0, 0], [0, 0.5, 0]))
    assert weight.tolist() == pytest.approx([0.25 * math.log(2), 0.5 * math.log(3)])


def test_kernels_give_the_density_at_the_middle_of_the_edge() -> None:
    """A single kernel, in the middle between -1 and 1: its density there is 1 / sqrt(2 pi)."""
    weights = EdgeWeights(1, kernels=points([0]), bandwidth=1.0)
    expected = 2 * math.log(1 + math.sqrt(2 * math.pi))
    assert weights(points([-1]), points([1])).item() == pytest.approx(expected)


def test_an_edge_far_from_all_kernels_weighs_minus_the_logarithm_of_its_density() -> None:
    """At 100 standard deviations the density is about e^-5000, which is 0 as a number."""
    weights = EdgeWeights(1, kernels=points([0], [0]), bandwidth=0.01)
    expected = 0.1 * (100**2 / 2 + math.log(0.01) + math.log(2 * math.pi) / 2)
    assert weights(points([0.95]), points([1.05])).item() == pytest.approx(expected)


def test_the_kernels_density_is_that_of_scikit_learn() -> None:
    draw = np.random.default_rng(0)
    centres, places = draw.normal(size=(30, 3)), draw.normal(size=(8, 3))
    ours = EdgeWeights(3, kernels=centres, bandwidth=0.4)
    theirs = KernelDensity(bandwidth=0.4).fit(centres).score_samples(places)
    assert ours.log_density(places).tolist() == pytest.approx(theirs.tolist())


def test_the_default_bandwidth_is_scotts() -> None:
    """16 points in one dimension with a standard deviation of 0.5: 0.5 * 16^(-1/5)."""
    weights = EdgeWeights.by_kernels(1, np.array([[0.0], [1.0]] * 8), None)
    assert weights.bandwidth == pytest.approx(0.5 * 16**-0.2)
    assert EdgeWeights.by_kernels(1, ON_A_LINE, 0.3).bandwidth == 0.3


def test_a_point_that_is_a_row_is_no_way_from_it() -> None:
    same = points([0.2, 0.2])
    for weights in (EdgeWeights(2, 0.1), EdgeWeights(2, kernels=same, bandwidth=0.1)):
        assert weights(same, same).item() == 0


def test_rows_lie_where_their_distance_says() -> None:
    """0.3 of a range, one of two ranks, another level: the root of 0.09 + 0.25 + 1."""
    schema = Schema(
        [Continuous("a"), Ordinal("b", ("low", "mid", "high")), Categorical("c", ("u", "v", "w"))]
    )
    frame = pd.DataFrame({"a": [0.0, 3.0, 10.0], "b": ["low", "mid", "high"], "c": ["u", "v", "w"]})
    codec = Codec.fit(schema, frame)
    first, second, _ = points_of(codec, codec.encode(frame))
    assert np.linalg.norm(first - second) == pytest.approx(math.sqrt(0.09 + 0.25 + 1))


def test_what_is_missing_in_both_is_no_distance() -> None:
    schema = Schema([Continuous("a"), Categorical("c", ("u", "v"))])
    codec = Codec.fit(schema, pd.DataFrame({"a": [0.0, 1.0], "c": ["u", "v"]}))
    missing = np.array([[math.nan, -1.0]])
    assert points_of(codec, missing).tolist() == [[0, 0, 0]]


def test_neighbours_are_the_nearest_and_not_oneself() -> None:
    near, far = nearest_neighbours(ON_A_LINE, 2)
    assert [set(row) for row in near.tolist()] == [{1, 2}, {0, 2}, {0, 1}, {1, 2}]
    assert far.tolist() == pytest.approx([0.3, 0.2, 0.3, 0.6])


def test_a_row_on_its_own_has_no_neighbours() -> None:
    near, far = nearest_neighbours(ON_A_LINE[:1], 5)
    assert near.shape == (1, 0)
    assert far.tolist() == [math.inf]
    assert default_epsilon(far) == math.inf


def test_the_default_epsilon_reaches_the_neighbours_of_nine_rows_in_ten() -> None:
    assert default_epsilon(np.arange(11.0)) == 9.0
    assert default_epsilon(np.array([1.0, math.inf])) == 1.0


def test_links_go_both_ways_also_where_only_one_chose_the_other() -> None:
    near, _ = nearest_neighbours(ON_A_LINE, 1)  # 0 - 1, 2 - 1, 3 - 2
    graph = neighbour_graph(
        ON_A_LINE, near, math.inf, EdgeWeights(1, 1.0), ON_A_LINE[:, :0]
    ).todense()
    links = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]
    assert [tuple(edge) for edge in np.argwhere(graph > 0).tolist()] == links
    assert graph[2, 3] == pytest.approx(0.4 * math.log(1.4))


def test_long_links_are_left_out() -> None:
    near, _ = nearest_neighbours(ON_A_LINE, 3)
    graph = neighbour_graph(ON_A_LINE, near, 0.25, EdgeWeights(1, 1.0), ON_A_LINE[:, :0]).todense()
    assert np.argwhere(np.triu(graph) > 0).tolist() == [[0, 1], [1, 2]]


def test_what_may_not_fall_does_not() -> None:
    near, _ = nearest_neighbours(ON_A_LINE, 1)
    one_way = np.array([[1.0], [2.0], [2.0], [1.0]])
    graph = neighbour_graph(ON_A_LINE, near, math.inf, EdgeWeights(1, 1.0), one_way).todense()
    assert np.argwhere(graph > 0).tolist() == [[0, 1], [1, 2], [2, 1], [3, 2]]


K, EPSILON, BANDWIDTH, CONFIDENCE = 6, 0.12, 0.08, 0.75
Points = NDArray[np.float64]


class Reference:
    """The graph over points in the plane, pair by pair."""

    def __init__(self, graph: str, data: Points) -> None:
        self.graph, self.data = graph, data
        self.kernels = KernelDensity(bandwidth=BANDWIDTH).fit(data)
        self.made = nx.DiGraph()
        for position, row in enumerate(data):
            for other, weight in self.near(row, position):
                self.made.add_edge(position, other, weight=weight)
                self.made.add_edge(other, position, weight=weight)

    def near(self, start: Points, own: int | None = None) -> list[tuple[int, float]]:
        """Return the points that one is linked to, and the weights."""
        apart = np.linalg.norm(self.data - start, axis=1)
        nearest = [int(position) for position in np.argsort(apart) if position != own][:K]
        linked = [other for other in nearest if self.graph == "knn" or apart[other] <= EPSILON]
        return [(other, self.weight(start, self.data[other])) for other in linked]

    def weight(self, first: Points, second: Points) -> float:
        """Return d * f(z): z is the density on the edge, f(z) = log(1 + z^(-1/2)) in the plane."""
        apart = float(np.linalg.norm(first - second))
        density = {
            "knn": lambda: K / (len(self.data) * np.pi * apart**2),
            "epsilon": lambda: EPSILON**2 / apart**2,
            "kde": lambda: np.exp(self.kernels.score_samples(((first + second) / 2)[None])[0]),
        }[self.graph]()
        return float(apart * np.log(1 + density**-0.5))

    def of(self, person: Points) -> nx.DiGraph:
        """Return the graph with a person in it, as the node -1."""
        made = self.made.copy()
        made.add_weighted_edges_from((-1, other, weight) for other, weight in self.near(person))
        return made


def moons(n: int, seed: int) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    points, label = make_moons(n, noise=0.1, random_state=seed)
    return pd.DataFrame(points, columns=["a", "b"]), label


@pytest.mark.parametrize("graph", ["knn", "epsilon", "kde"])
def test_on_two_moons_the_paths_are_those_of_networkx(graph: Any) -> None:
    (train, label), (rows, _) = moons(300, 0), moons(12, 1)
    model = LogisticRegression().fit(train, label)
    settings = FaceSettings(
        graph=graph,
        n_neighbours=K,
        epsilon=None if graph == "knn" else EPSILON,
        bandwidth=BANDWIDTH,
        confidence=CONFIDENCE,
        least_density=0,
    )
    result = Face(model, settings=settings).fit(train).explain(rows, target=1, n=3)
    low, span = train.min().to_numpy(), (train.max() - train.min()).to_numpy()
    data = (train.to_numpy() - low) / span
    people = (rows.to_numpy() - low) / span
    confident = model.predict_proba(train)[:, 1] >= CONFIDENCE
    ends = set(np.flatnonzero(confident).tolist())
    reference = Reference(graph, data)
    searched = [item for item in result if item.outcome != "already_target"]
    assert len(searched) >= 4
    assert any(len(item) == 3 for item in searched)
    for item in searched:
        made = reference.of(people[item.row])
        costs, ways = nx.single_source_dijkstra(made, -1)
        best = sorted((costs[end], end) for end in ends & costs.keys())[:3]
        assert len(item) == len(best)
        for (cost, end), steps in zip(best, item.steps, strict=True):
            nodes = [int(np.linalg.norm(data - step, axis=1).argmin()) for step in steps]
            assert nodes == ways[end][1:]
            walked = sum(made.edges[edge]["weight"] for edge in nx.utils.pairwise([-1, *nodes]))
            assert walked == pytest.approx(cost)
