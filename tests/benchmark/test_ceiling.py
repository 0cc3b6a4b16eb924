"""The ceiling of a run: nobody helps more people than it says can be helped."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce.benchmark import Plan
from proce.benchmark.measuring.contenders import Contenders, explain_with_truth
from proce.benchmark.measuring.world import World
from proce.benchmark.plan import Variant
from proce.benchmark.presets import find_preset
from proce.benchmark.reporting.summary import lift_ceiling
from proce.causal import Additive, CausalGraph, StructuralCausalModel
from proce.metrics import evaluate
from proce.schema import Codec, Continuous, Schema

from .conftest import QUICKEST

CEILING = next(
    variant for variant in find_preset("quick").variants if variant.name == "ceiling, recourse"
)
METHODS = (
    Variant(name="ProCE, recourse", method="ProCE", setting="recourse", settings=QUICKEST),
    Variant(name="Growing Spheres, recourse", method="GrowingSpheres", setting="recourse"),
    Variant(name="Nearest, recourse", method="Nearest", setting="recourse"),
)


@pytest.fixture(
    scope="module",
    params=["loan", "simple_bn", pytest.param("sangiovese", marks=pytest.mark.slow)],
)
def contenders(request: pytest.FixtureRequest, small_plan: Plan) -> Contenders:
    plan = replace(small_plan, datasets=(request.param,), rows=12)
    return Contenders(World.prepare(plan, request.param, "first", 0), plan)


def test_a_missing_number_is_neither_set_nor_moved() -> None:
    frame = pd.DataFrame({"size": [0.0, 10.0], "debt": [0.0, 10.0]})
    schema = Schema([Continuous("size"), Continuous("debt", action="indirect")])
    graph = CausalGraph([("size", "debt")])
    codec = Codec.fit(schema, frame)
    world: Any = SimpleNamespace(
        codec=codec,
        model=lambda people: np.stack([people["size"] < 5, people["size"] >= 5], -1).astype(float),
        data=SimpleNamespace(wanted=1),
        equations=StructuralCausalModel(
            graph, {"debt": Additive(lambda parents: parents["size"] / 2)}, codec
        ),
        encoded=codec.encode(frame),
    )
    people = pd.DataFrame({"size": [1.0, 1.0], "debt": [2.0, np.nan]})
    changes = explain_with_truth(world, schema, (), people).changes()
    assert changes["feature"].tolist() == ["size", "debt", "size"]


def success(contenders: Contenders, variant: Variant) -> "dict[int, float]":
    """Return by row whether the actions that a variant advises are allowed and work in truth."""
    world = contenders.world
    frame = evaluate(
        contenders.contender(variant).explain(world.factual),
        model=world.model,
        truth=world.equations,
        recourse_schema=world.data.recourse_schema,
    ).frame
    own = frame[(frame["metric"] == "actionable_success") & (frame["rank"] == 1)]
    return dict(zip(own["row"].tolist(), own["value"].tolist(), strict=True))


def test_whoever_is_shown_a_way_is_helped_by_it(contenders: Contenders) -> None:
    """Debt has steps of 100 and a score steps of 1: half a step was enough to break a promise."""
    world = contenders.world
    result = contenders.contender(CEILING).explain(world.factual)
    succeeded = success(contenders, CEILING)
    found = {index for index, item in enumerate(result) if len(item)}
    assert found
    assert {row for row, value in succeeded.items() if value} == found


def test_nobody_is_helped_beyond_the_ceiling(contenders: Contenders) -> None:
    ceiling = success(contenders, CEILING)
    everybody: set[int] = set()
    for method in METHODS:
        helped = {row for row, value in success(contenders, method).items() if value}
        assert helped <= {row for row, value in ceiling.items() if value}, method.name
        everybody |= helped
    assert everybody


def test_whoever_any_method_helps_can_be_helped() -> None:
    """Of three people the search has found a way for the first, and a method for the second."""
    values = pd.DataFrame(
        [
            ("ceiling, recourse", 0, 1.0),
            ("ceiling, recourse", 1, 0.0),
            ("ceiling, recourse", 2, 0.0),
            ("Nearest, recourse", 0, 0.0),
            ("Nearest, recourse", 1, 1.0),
            ("Nearest, recourse", 2, 0.0),
            ("Nearest", 2, 1.0),  # who may act on everything shows nothing
        ],
        columns=["variant", "row", "value"],
    ).assign(dataset="loan", classifier="first", repetition=0, metric="actionable_success", rank=1)
    variants = (CEILING, METHODS[2], Variant(name="Nearest", method="Nearest"))
    lifted = lift_ceiling(values, variants).set_index(["variant", "metric", "row"])
    lifted = lifted["value"].sort_index()
    assert lifted["ceiling, recourse", "actionable_success"].tolist() == [1, 1, 0]
    assert lifted["ceiling, recourse", "ceiling_missed"].tolist() == [0, 1, 0]
    assert lifted["Nearest, recourse", "actionable_success"].tolist() == [0, 1, 0]
    assert len(lifted) == 10
    unchanged = lift_ceiling(values, variants[1:])
    pd.testing.assert_frame_equal(unchanged, values)
