"""Causal models taken apart and put together again: the same equations, to the last bit."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from proce.arrays import Array
from proce.causal import Additive, CausalGraph, StructuralCausalModel
from proce.causal.equations.families import KINDS, Kind
from proce.causal.equations.fitting import refitting
from proce.causal.models.saved import SavedCauses
from proce.errors import GraphError
from proce.schema import Categorical, Codec, Continuous, Ordinal, Schema

GRAPH = CausalGraph([("a", "b"), ("c", "b"), ("b", "d"), ("a", "c")])
SCHEMA = Schema(
    [
        Continuous("a"),
        Continuous("b"),
        Ordinal("c", ("low", "middle", "high")),
        Categorical("d", ("x", "y", "z")),
    ]
)


@pytest.fixture(scope="module")
def codec_and_rows() -> tuple[Codec, Array]:
    draw = np.random.default_rng(0)
    a = draw.normal(10, 2, 200)
    rank = np.clip((a - 7) / 2 + draw.normal(0, 0.5, 200), 0, 2).round().astype(int)
    b = np.exp(a / 5 + rank + draw.normal(0, 0.3, 200))
    d = np.where(b > np.median(b), draw.choice(["x", "y"], 200), "z")
    frame = pd.DataFrame({"a": a, "b": b, "c": np.array(["low", "middle", "high"])[rank], "d": d})
    codec = Codec.fit(SCHEMA, frame)
    return codec, np.ascontiguousarray(codec.encode(frame))


def saved(*models: StructuralCausalModel) -> SavedCauses:
    """Return models taken apart."""
    causes = SavedCauses()
    for model in models:
        causes.add(model)
    return causes


def again(causes: SavedCauses, codec: Codec) -> list[StructuralCausalModel]:
    """Return the models as they are read: from their parts alone."""
    parts = (causes.graphs, causes.mechanisms, causes.models, causes.weights, causes.estimators)
    return SavedCauses(*parts).load(codec, {})


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_equation(kind: Kind, codec_and_rows: tuple[Codec, Array]) -> None:
    codec, rows = codec_and_rows
    graph = CausalGraph([("a", "b"), ("c", "b")]) if kind.startswith("log-") else GRAPH
    scm = StructuralCausalModel.fit(graph, rows, codec, mechanism=kind)
    (loaded,) = again(saved(scm), codec)
    noise = scm.abduct(rows)
    assert np.array_equal(noise, loaded.abduct(rows))
    acted_on = np.array([True, False, False, False])
    moved = rows + np.array([0.1, 0, 0, 0], dtype=np.float64)
    assert np.array_equal(
        scm.propagate(moved, noise, acted_on), loaded.propagate(moved, noise, acted_on)
    )
    assert loaded.records == scm.records
    assert loaded.graph == scm.graph


def test_ordered_levels_and_refined_curves(codec_and_rows: tuple[Codec, Array]) -> None:
    codec, rows = codec_and_rows
    for name, kind in (("c", "ordered-spline"), ("b", "sparse-spline"), ("b", "log-fine-spline")):
        graph = CausalGraph([("a", name)])
        mechanism = refitting(name, graph, rows, codec, kind, 0)(np.ones(len(rows)))
        scm = StructuralCausalModel(graph, {name: mechanism}, codec)
        (loaded,) = again(saved(scm), codec)
        assert np.array_equal(scm.abduct(rows, seed=1), loaded.abduct(rows, seed=1))
        assert np.array_equal(scm.predict(name, rows), loaded.predict(name, rows))


def test_the_median_noise_of_ordered_levels_is_kept(codec_and_rows: tuple[Codec, Array]) -> None:
    codec, rows = codec_and_rows
    scm = StructuralCausalModel.fit(CausalGraph([("a", "c")]), rows, codec)
    assert scm.mechanisms["c"].noise == "median"  # type: ignore[attr-defined]
    (loaded,) = again(saved(scm), codec)
    assert np.array_equal(loaded.abduct(rows, seed=0), loaded.abduct(rows, seed=1))


def test_thresholds_that_do_not_rise(codec_and_rows: tuple[Codec, Array]) -> None:
    codec, rows = codec_and_rows
    causes = saved(StructuralCausalModel.fit(CausalGraph([("a", "c")]), rows, codec))
    for ends in ((1.0, 0.5), (0.5, 0.5)):
        causes.mechanisms[0] = replace(causes.mechanisms[0], thresholds=ends)
        with pytest.raises(GraphError, match="thresholds of the equation of 'c' do not fit"):
            again(causes, codec)
    causes.mechanisms[0] = replace(causes.mechanisms[0], thresholds=(1.0,))
    with pytest.raises(GraphError, match="gives one of 2 levels; the ordinal feature has 3"):
        again(causes, codec)


def test_what_models_share_is_kept_once(codec_and_rows: tuple[Codec, Array]) -> None:
    codec, rows = codec_and_rows
    scm = StructuralCausalModel.fit(GRAPH, rows, codec, mechanism="linear")
    other = StructuralCausalModel(GRAPH, scm.mechanisms, codec)
    causes = SavedCauses()
    assert [causes.add(model) for model in (scm, other, scm)] == [0, 1, 0]
    assert len(causes.graphs) == 1
    assert len(causes.mechanisms) == 3


def test_limits_of_noise(codec_and_rows: tuple[Codec, Array]) -> None:
    codec, rows = codec_and_rows
    scm = StructuralCausalModel.fit(CausalGraph([("a", "b")]), rows, codec, mechanism="linear")
    bounded = Additive(scm.mechanisms["b"].predict, (0.0, math.inf), units="unit")
    (loaded,) = again(saved(StructuralCausalModel(scm.graph, {"b": bounded}, codec)), codec)
    assert loaded.mechanisms["b"].limits == (0.0, math.inf)  # type: ignore[attr-defined]


def test_a_function_must_be_handed_over(codec_and_rows: tuple[Codec, Array]) -> None:
    codec, rows = codec_and_rows
    graph = CausalGraph([("a", "b")])

    def double(parents: dict[str, Array]) -> Array:
        return 2 * parents["a"]

    scm = StructuralCausalModel.fit(graph, rows, codec, equations={"b": double})
    causes = saved(scm)
    with pytest.raises(GraphError, match="'b' was given as a function"):
        causes.load(codec, {})
    (loaded,) = causes.load(codec, {"b": double})
    assert np.array_equal(scm.predict("b", rows), loaded.predict("b", rows))


def test_an_equation_of_a_later_version(codec_and_rows: tuple[Codec, Array]) -> None:
    codec, rows = codec_and_rows
    causes = saved(StructuralCausalModel.fit(GRAPH, rows, codec, mechanism="linear"))
    causes.mechanisms[0] = replace(causes.mechanisms[0], form="wavelet")
    with pytest.raises(GraphError, match="has the form 'wavelet'; this version of proce knows"):
        again(causes, codec)


def test_weights_that_do_not_fit(codec_and_rows: tuple[Codec, Array]) -> None:
    codec, rows = codec_and_rows
    causes = saved(StructuralCausalModel.fit(GRAPH, rows, codec, mechanism="linear"))
    causes.weights[0] = causes.weights[0][:-1]
    with pytest.raises(GraphError, match="do not fit"):
        again(causes, codec)
