"""Discovery: knowledge is obeyed, bad input is refused, the rest is said."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proce.causal import CausalGraph, DiscoveryProgress, DiscoveryWarning
from proce.causal.discovery.discover import ALGORITHMS
from proce.errors import GraphError, SchemaError
from proce.schema import Categorical, Continuous, Ordinal, Schema

NAMES = list("abcde")
pytestmark = pytest.mark.filterwarnings("ignore::proce.causal.DiscoveryWarning")


def chain(n: int = 800, seed: int = 0) -> pd.DataFrame:
    """Rows of a -> b -> c with uniform noise, and d on its own."""
    rng = np.random.default_rng(seed)
    a, b, c, d = rng.uniform(-1, 1, (4, n))
    return pd.DataFrame({"c": a + b + c, "d": d, "a": a, "b": a + b})


@st.composite
def knowledge(draw: st.DrawFn) -> dict[str, Any]:
    """Tiers, required and forbidden edges that do not contradict each other."""
    order = draw(st.permutations(NAMES))
    place = {name: rank for rank, name in enumerate(order)}
    pairs = [(a, b) for a in NAMES for b in NAMES if a != b]
    required = [e for e in pairs if place[e[0]] < place[e[1]] and draw(st.integers(0, 7)) == 0]
    forbidden = [e for e in pairs if e not in required and draw(st.integers(0, 4)) == 0]
    listed = [name for name in order if draw(st.booleans())]
    cut = draw(st.integers(0, len(listed)))
    return {
        "tiers": draw(st.sampled_from([None, [listed[:cut], listed[cut:]]])),
        "required": required,
        "forbidden": forbidden,
    }


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@settings(max_examples=20)
@given(known=knowledge(), seed=st.integers(0, 1_000))
def test_what_is_known_is_obeyed_whatever_the_data_say(
    algorithm: str, known: dict[str, Any], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    mixed = rng.laplace(size=(150, 5)) @ rng.normal(size=(5, 5))
    frame = pd.DataFrame(mixed, columns=NAMES)
    graph = CausalGraph.discover(frame, algorithm=algorithm, **known)
    assert set(known["required"]) <= set(graph.edges)
    possible = {*graph.edges, *graph.undirected, *((b, a) for a, b in graph.undirected)}
    assert possible.isdisjoint(known["forbidden"])
    for late, tier in enumerate(known["tiers"] or []):
        earlier = {name for tier in known["tiers"][:late] for name in tier}
        for name in tier:
            assert earlier.isdisjoint(graph.descendants(name))
            assert not any(set(pair) == {name, e} for pair in graph.undirected for e in earlier)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_chain_is_found_and_open_directions_stay_open(algorithm: str) -> None:
    graph = CausalGraph.discover(chain(), algorithm=algorithm)
    assert graph.nodes == ("c", "d", "a", "b")
    assert graph.origin.algorithm == algorithm
    if algorithm == "direct_lingam":
        assert set(graph.edges) == {("a", "b"), ("b", "c")}
    else:  # all directions of a chain without a collider look alike
        assert graph.edges == ()
        assert graph.undirected == (("c", "b"), ("a", "b"))
        assert any("c -- b; a -- b" in text for text in graph.origin.warnings)
        assert set(graph.decide(("a", "b"), ("b", "c")).edges) == {("a", "b"), ("b", "c")}


@pytest.mark.parametrize("algorithm", ["pc", "ges"])
def test_one_known_direction_decides_the_others(algorithm: str) -> None:
    graph = CausalGraph.discover(chain(), algorithm=algorithm, tiers=[["a"], ["b"]])
    assert set(graph.edges) == {("a", "b"), ("b", "c")}
    assert graph.undirected == ()


def test_the_settings_are_kept_as_plain_values() -> None:
    graph = CausalGraph.discover(
        chain(), algorithm="pc", tiers=({"a"}, ("b", "c")), forbidden=iter([("d", "a")])
    )
    settings = graph.origin.settings
    assert settings["tiers"][1] == ["b", "c"]
    assert settings["forbidden"] == [["d", "a"]]
    assert (settings["alpha"], settings["n_rows"], settings["seed"]) == (0.01, 800, 0)
    assert CausalGraph.from_json(graph.to_json()).origin == graph.origin


def test_frames_of_other_libraries_give_the_same_graph() -> None:
    assert CausalGraph.discover(pl.from_pandas(chain())) == CausalGraph.discover(chain())


def test_the_frame_the_random_streams_and_the_output_of_the_caller_are_left_alone(
    capfd: pytest.CaptureFixture[str],
) -> None:
    frame = chain()
    before = frame.copy()
    np.random.seed(7)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(7)  # noqa: NPY002
    for algorithm in ALGORITHMS:
        CausalGraph.discover(frame, algorithm=algorithm)
    assert np.random.random() == expected  # noqa: NPY002
    pd.testing.assert_frame_equal(frame, before)
    assert capfd.readouterr() == ("", "")


def test_levels_count_by_rank_and_one_hot_columns_as_one_feature() -> None:
    rng = np.random.default_rng(0)
    rank = rng.integers(0, 4, 900)
    frame = pd.DataFrame(
        {
            "school": np.array(["low", "mid", "high", "top"])[rank],
            "income": rank + rng.uniform(-0.5, 0.5, 900),
            "home_rent": (hot := rng.random(900) < 0.5).astype(int),
            "home_own": (~hot).astype(int),
        }
    )
    schema = Schema(
        [
            Ordinal("school", ("low", "mid", "high", "top")),
            Continuous("income"),
            Categorical("home", ("rent", "own"), one_hot=("home_rent", "home_own")),
        ]
    )
    with pytest.warns(DiscoveryWarning, match="treated as numbers, in the order of .* home"):
        graph = CausalGraph.discover(frame, schema, tiers=[["school"], ["income"]])
    assert graph.edges == (("school", "income"),)


def test_rows_with_missing_values_are_left_out_and_counted() -> None:
    frame = chain()
    frame.loc[:99, "b"] = np.nan
    with pytest.warns(DiscoveryWarning, match="100 of 800 rows have missing values.*b is missing"):
        graph = CausalGraph.discover(frame)
    assert graph.origin.settings["n_rows"] == 700
    assert set(graph.edges) == {("a", "b"), ("b", "c")}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_constant_feature_has_no_edges_but_required_ones(algorithm: str) -> None:
    schema = Schema([*(Continuous(name) for name in "cdab"), Continuous("k", action="fixed")])
    frame = chain().assign(k=0.1)
    with pytest.warns(DiscoveryWarning, match="k has one value in all rows"):
        graph = CausalGraph.discover(frame, schema, algorithm=algorithm, required=[("k", "d")])
    assert [edge for edge in graph.edges if "k" in edge] == [("k", "d")]
    with pytest.warns(DiscoveryWarning, match="k has one value in all rows"):  # inferred as fixed
        inferred = CausalGraph.discover(frame, algorithm=algorithm)
    assert not [edge for edge in inferred.edges if "k" in edge]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (chain(12), "12 complete rows for 4 features; expected at least 14"),
        (chain().assign(e=lambda f: 3 - 2 * f.a), "'[ae]' follows exactly from '[ae]'"),
        (chain().assign(e=lambda f: f.a + f.d), "follows exactly from '.', '.'"),
    ],
)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_rows_that_cannot_tell_are_refused(
    algorithm: str, frame: pd.DataFrame, message: str
) -> None:
    with pytest.raises(GraphError, match=message):
        CausalGraph.discover(frame, algorithm=algorithm)


def test_values_that_are_not_finite_are_refused_with_their_row() -> None:
    frame = chain()
    frame.loc[3, "a"] = np.inf
    with pytest.raises(SchemaError, match="'a': row 3 is inf"):
        CausalGraph.discover(frame)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "lingam"}, "unknown algorithm 'lingam'.*Did you mean 'direct_lingam'"),
        ({"algorithm": ["pc"]}, "algorithm is"),
        ({"bootstrap": -1}, "bootstrap is -1; expected a whole number"),
        ({"seed": 0.5}, "seed is 0.5; expected a whole number"),
        ({"alpha": 1.0}, "alpha is 1.0; expected a level"),
        ({"alpha": 0.1, "algorithm": "ges"}, "takes no alpha"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"required": [("a", "x")]}, "unknown feature 'x'"),
        ({"tiers": [["a"], ["b"]], "required": [("b", "a")]}, "b -> a is required, but"),
        ({"required": [None]}, "None is not an edge"),
    ],
)
def test_options_that_cannot_be_are_refused_before_anything_runs(
    options: dict[str, Any], message: str
) -> None:
    reports: list[DiscoveryProgress] = []
    with pytest.raises(GraphError, match=message):
        CausalGraph.discover(chain(), **options, progress=reports.append)
    assert reports == []


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_frame_of_one_feature_has_a_graph_without_edges(algorithm: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = CausalGraph.discover(chain()[["a"]], algorithm=algorithm)
    assert graph == CausalGraph([], nodes=["a"])


@pytest.mark.parametrize(
    ("n_features", "n_graphs"), [(10, 3), pytest.param(10, 30, marks=pytest.mark.slow)]
)
def test_random_linear_graphs_are_found(n_features: int, n_graphs: int) -> None:
    scores = []
    for seed in range(n_graphs):
        rng = np.random.default_rng(seed)
        shape = (n_features, n_features)
        edges = np.triu(rng.random(shape) < 2 / (n_features - 1), 1)
        weights = edges * rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)
        noise = rng.uniform(-1, 1, (2_000, n_features))
        names = [f"x{n}" for n in rng.permutation(n_features)]
        frame = pd.DataFrame(noise @ np.linalg.inv(np.eye(n_features) - weights), columns=names)
        truth = {(names[a], names[b]) for a, b in np.argwhere(edges)}
        edges_found = set(CausalGraph.discover(frame[sorted(names)]).edges)
        scores.append(2 * len(edges_found & truth) / (len(edges_found) + len(truth)))
    assert np.mean(scores) >= 0.95
