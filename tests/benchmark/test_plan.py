"""Plans: what they cross, and what they refuse."""

import json
from contextlib import suppress
from dataclasses import replace

import pytest

from proce.benchmark import Plan, Variant
from proce.benchmark.presets import PRESETS, find_preset
from proce.errors import BenchmarkError

from ..damage import places


def test_a_plan_crosses_everything_and_recourse_only_where_the_truth_is_known() -> None:
    variants = (
        Variant(name="a", method="Nearest"),
        Variant(name="b", method="Nearest", setting="recourse"),
    )
    plan = Plan(
        name="x",
        datasets=("loan", "law"),
        classifiers=("first", "second"),
        variants=variants,
        repetitions=2,
        rows=1,
    )
    ids = [cell.id for cell in plan.cells()]
    assert len(ids) == len(set(ids)) == 2 * 2 * (2 + 1)
    assert "law_first_0_b" not in ids
    assert "loan_second_1_b" in ids


@pytest.mark.parametrize("name", PRESETS)
def test_presets_survive_json(name: str) -> None:
    plan = find_preset(name)
    assert Plan.from_json(plan.to_json()) == plan


def test_the_papers_protocol() -> None:
    plan = find_preset("paper")
    assert (plan.repetitions, plan.rows) == (100, 100)
    assert set(plan.datasets) >= {"simple_bn", "sangiovese", "adult", "law"}
    assert plan.classifiers == ("first", "second")
    quick = find_preset("quick")
    assert (quick.repetitions, quick.rows) == (3, 30)
    swept = {v.name for v in find_preset("sensitivity").variants}
    assert {f"latent_size = {size}" for size in (32, 64, 128, 256, 512)} <= swept
    assert {f"n_neighbours = {k}" for k in (5, 15, 25, 35, 45)} <= swept


def test_a_difference_is_named() -> None:
    plan = find_preset("smoke")
    assert plan.difference(plan) == []
    assert plan.difference(replace(plan, rows=7)) == ["rows: 5 here, 7 asked for"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"datasets": ["lone"]}, "Did you mean 'loan'"),
        ({"classifiers": ["third"]}, "unknown classifier 'third'"),
        ({"rows": 0}, "rows is 0"),
        ({"colour": 1}, "unknown field 'colour'"),
        ({"variants": [{"name": "x", "method": "Neerest"}]}, "Did you mean 'Nearest'"),
        ({"variants": [{"name": "x"}]}, "lacks method"),
        ({"variants": [{"name": "x", "method": "Face"}] * 2}, "two variants are called 'x'"),
    ],
)
def test_a_wrong_plan_is_refused_with_a_reason(change: dict[str, object], words: str) -> None:
    record = json.loads(find_preset("smoke").to_json()) | change
    with pytest.raises(BenchmarkError, match=words.replace("(", r"\(")):
        Plan.from_json(json.dumps(record))


def test_text_that_is_no_plan_is_refused() -> None:
    with pytest.raises(BenchmarkError, match="not JSON"):
        Plan.from_json("{")
    with pytest.raises(BenchmarkError, match="expected an object"):
        Plan.from_json("[]")
    with pytest.raises(BenchmarkError, match="Did you mean 'quick'"):
        find_preset("quik")


@pytest.mark.parametrize("value", [None, "", "a", -1, 10**30, 1.5, True, [], {}, [None], {"a": 1}])
def test_a_plan_with_any_value_replaced_is_read_or_refused(value: object) -> None:
    """Nothing but an error of ours comes of it, and nothing takes forever."""
    text = find_preset("smoke").to_json()
    for path in places(json.loads(text)):
        record = json.loads(text)
        inside = record
        for key in path[:-1]:
            inside = inside[key]
        inside[path[-1]] = value
        with suppress(BenchmarkError):
            plan = Plan.from_json(json.dumps(record))
            assert Plan.from_json(plan.to_json()) == plan
