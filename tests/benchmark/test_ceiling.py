"""The ceiling of a run: nobody helps more people than it says can be helped."""

from dataclasses import replace

import pytest

from proce.benchmark import Plan
from proce.benchmark.contenders import Contenders
from proce.benchmark.plan import Variant
from proce.benchmark.presets import find_preset
from proce.benchmark.world import World
from proce.metrics import evaluate

from .conftest import QUICKEST

CEILING = next(
    variant for variant in find_preset("quick").variants if variant.name == "ceiling, recourse"
)
PROCE = Variant(name="ProCE, recourse", method="ProCE", setting="recourse", settings=QUICKEST)


@pytest.fixture(scope="module", params=["loan", "simple_bn"])
def contenders(request: pytest.FixtureRequest, small_plan: Plan) -> Contenders:
    plan = replace(small_plan, datasets=(request.param,), rows=12)
    return Contenders(World.prepare(plan, request.param, "first", 0), plan)


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
    ceiling, proce = success(contenders, CEILING), success(contenders, PROCE)
    helped = {row for row, value in proce.items() if value}
    assert helped
    assert helped <= {row for row, value in ceiling.items() if value}
