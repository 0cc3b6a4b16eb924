"""FACE beside its source: the paths of networkx in the graph that Poyiadzi et al. define."""

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KernelDensity

from proce.methods import Face, FaceSettings

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
