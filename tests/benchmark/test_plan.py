"""Plans: what they cross, and what they refuse."""

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any, get_args

import pytest

from proce.benchmark import Plan, Variant
from proce.benchmark.plan import MethodName
from proce.benchmark.presets import PRESETS, find_preset
from proce.benchmark.reporting.summary import group_of
from proce.datasets.load import LOADERS
from proce.errors import BenchmarkError

from ..damage import places


def plan_of(*variants: Variant, **options: Any) -> Plan:
    usual = {"name": "x", "classifiers": ("first",), "repetitions": 1, "rows": 1}
    return Plan(variants=variants, **usual | options)


def test_a_plan_crosses_everything_and_recourse_only_where_the_truth_is_known() -> None:
    plan = plan_of(
        Variant(name="a", method="Nearest"),
        Variant(name="b", method="Nearest", setting="recourse"),
        datasets=("loan", "law"),
        classifiers=("first", "second"),
        repetitions=2,
    )
    ids = [cell.id for cell in plan.cells()]
    assert len(ids) == len(set(ids)) == 2 * 2 * (2 + 1)
    assert "law_first_0_b" not in ids
    assert "loan_second_1_b" in ids


def test_what_cannot_be_measured_is_no_cell_and_is_told_with_the_reason() -> None:
    plan = plan_of(
        Variant(name="Wachter", method="Wachter"),
        Variant(name="DiCE", method="Dice"),
        Variant(name="DiCE gradient", method="Dice", settings={"method": "gradient"}),
        Variant(name="ceiling", method="Ceiling", setting="recourse"),
        datasets=("loan", "german_credit"),
        classifiers_of={"german_credit": ("trees",)},
    )
    assert [cell.id for cell in plan.cells()] == [
        *("loan_first_0_wachter", "loan_first_0_dice", "loan_first_0_dice-gradient"),
        *("loan_first_0_ceiling", "german_credit_trees_0_dice"),
    ]
    told = {(left.dataset, left.variant.name): left.reason for left in plan.left_out()}
    assert list(told) == [
        ("german_credit", name) for name in ("Wachter", "DiCE gradient", "ceiling")
    ]
    assert "trees have none" in told["german_credit", "Wachter"]
    assert "true equations" in told["german_credit", "ceiling"]


def test_a_variant_can_be_limited_to_data_sets_it_has_time_for() -> None:
    limited = Variant(name="slow", method="Nearest", only_on=("law",))
    plan = plan_of(limited, datasets=("loan", "law"))
    assert [cell.id for cell in plan.cells()] == ["law_first_0_slow"]
    (left,) = plan.left_out()
    assert (left.dataset, left.reason) == ("loan", "it takes more time there than the plan has")
    assert Plan.from_json(plan.to_json()) == plan
    with pytest.raises(BenchmarkError, match="Did you mean 'law'"):
        Variant(name="slow", method="Nearest", only_on=("lawn",))


def test_the_standard_preset_leaves_no_method_and_no_data_set_out() -> None:
    plan = find_preset("standard")
    assert set(plan.datasets) == set(LOADERS)
    assert {variant.method for variant in plan.variants} == set(get_args(MethodName))
    problems = plan.problems()
    assert ("german_credit", "trees") in problems
    assert ("credit_card", "first") in problems
    assert ("adult", "second") in problems
    names = {variant.name for variant in plan.variants}
    compared = {variant.name for variant in plan.variants if group_of(variant) == "paper"}
    assert {f"{name}, recourse" for name in compared} <= names  # or some would have no success
    assert {"ProCE discovered graph", "DiCE gradient", "DiCE genetic"} <= compared


def test_a_plan_of_before_there_were_trees_is_read() -> None:
    record = json.loads(find_preset("quick").to_json())
    del record["classifiers_of"]
    assert Plan.from_json(json.dumps(record)) == find_preset("quick")


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
        ({"classifiers_of": {"loan": ["forest"]}}, "unknown classifier 'forest'"),
        ({"classifiers_of": {"lone": ["trees"]}}, "Did you mean 'loan'"),
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
