"""Found, not found, already there, out of time; and what blocks where nothing was found."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from proce import ProCE, Progress, RuleError
from proce.schema import Action

from ...worlds import (
    SCHEMA,
    SETTINGS,
    TINY,
    WatchedBank,
    bank,
    never,
    one,
    people,
    refused,
    two_classes,
)


def blockers(result: Any) -> dict[tuple[str, str], str]:
    """Return what blocks the first row, with what would do."""
    diagnosis = result[0].diagnosis
    return {(blocker.kind, blocker.name): blocker.relaxation for blocker in diagnosis.blockers}


def explainer_with(**changes: Any) -> ProCE:
    options = {"schema": SCHEMA, "settings": SETTINGS} | changes
    return ProCE(bank, **options).fit(people())


def test_each_row_has_an_outcome_in_the_order_of_the_frame(banker: ProCE) -> None:
    frame = pd.concat([refused(people(), 2), one(savings=90, debt=0), refused(people(), 3).tail(1)])
    result = banker.explain(frame, target=1)
    outcomes = result.outcomes()
    assert outcomes["row"].tolist() == [0, 1, 2, 3]
    assert outcomes["outcome"].tolist() == ["found", "found", "already_target", "found"]
    assert len(result) == 4
    assert [item.row for item in result] == [0, 1, 2, 3]


def test_rows_that_are_all_there_already_are_an_answer(banker: ProCE) -> None:
    result = banker.explain(one(savings=90, debt=0), target=1)
    assert result[0].outcome == "already_target"
    assert result[0].diagnosis is None


def test_without_a_target_each_row_is_led_to_the_other_class(banker: ProCE) -> None:
    frame = pd.concat([one(), one(savings=90, debt=0)])
    result = banker.explain(frame, n=1)
    assert result.outcomes()["target"].tolist() == [1, 0]
    assert (bank(result.counterfactuals()).argmax(1) == [1, 0]).all()


class TestDiagnosis:
    """What blocks is found by lifting one limit at a time."""

    def test_the_nearest_miss_is_told_with_its_probability(self, banker: ProCE) -> None:
        result = banker.explain(one(), ranges={"savings": (0, 25), "debt": (35, 100)})
        diagnosis = result[0].diagnosis
        assert result[0].outcome == "not_found"
        assert len(result.to_frame()) == 0
        miss = pd.DataFrame({name: [value] for name, value in diagnosis.closest_miss.items()})
        assert diagnosis.probability == pytest.approx(bank(miss)[0, 1])
        assert diagnosis.probability < diagnosis.needed == 0.5
        assert set(diagnosis.closest_miss) == set(one().columns)
        assert str(diagnosis) == diagnosis.reason
        assert result.outcomes()["reason"].iloc[0] == diagnosis.reason

    def test_a_range_of_the_call(self, banker: ProCE) -> None:
        result = banker.explain(
            one(), vary=["savings", "debt"], ranges={"savings": (0, 25), "debt": (40, 100)}
        )
        found = blockers(result)
        assert ("range", "savings") in found
        assert ("range", "debt") in found
        needed = float(found["range", "savings"].split()[-1])
        assert bank(one(savings=needed))[0, 1] >= 0.5
        assert "savings allowed to reach" in result[0].diagnosis.reason

    def test_a_permitted_range_of_the_schema(self) -> None:
        schema = SCHEMA.edit("savings", range=(0, 40)).edit("debt", action=Action.FIXED)
        result = explainer_with(schema=schema).explain(one(school="high"))
        assert result[0].outcome == "not_found"
        assert ("range", "savings") in blockers(result)
        assert ("fixed", "debt") in blockers(result)

    def test_a_rule(self) -> None:
        explainer = explainer_with(rules=["cf.savings <= x.savings"])
        result = explainer.explain(one(debt=10, savings=5), vary=["savings", "age"])
        assert ("rule", "cf.savings <= x.savings") in blockers(result)
        assert "without the rule 'cf.savings <= x.savings'" in result[0].diagnosis.reason

    def test_a_rule_of_the_call(self, banker: ProCE) -> None:
        rule = "cf.savings - cf.debt <= 0"
        result = banker.explain(one(school="none"), rules=[rule, "cf.age <= 70"])
        assert ("rule", rule) in blockers(result)
        assert ("rule", "cf.age <= 70") not in blockers(result)

    def test_what_may_vary(self, banker: ProCE) -> None:
        result = banker.explain(one(), vary=["age"])
        found = blockers(result)
        assert ("vary", "") in found
        assert "may vary too" in found["vary", ""]
        assert "savings" in found["vary", ""] or "debt" in found["vary", ""]

    def test_a_fixed_feature(self) -> None:
        schema = SCHEMA.edit(["savings", "debt", "age"], action=Action.FIXED)
        result = explainer_with(schema=schema).explain(one(savings=45, debt=40, school="none"))
        assert set(blockers(result)) >= {("fixed", "savings"), ("fixed", "debt")}
        assert ("fixed", "age") not in blockers(result)

    def test_a_one_way_feature(self) -> None:
        schema = SCHEMA.edit("savings", action=Action.DECREASE).edit("debt", action=Action.INCREASE)
        found = blockers(explainer_with(schema=schema).explain(one()))
        assert set(found) >= {("decrease", "savings"), ("increase", "debt")}

    def test_the_number_of_changes(self) -> None:
        """Neither alone is enough: savings of 30 and debts of 15."""
        schema = SCHEMA.edit("savings", range=(0, 35)).edit("debt", range=(15, 100))
        row = one(school="none", savings=10, debt=60)
        result = explainer_with(schema=schema).explain(row, max_changes=1, vary=["savings", "debt"])
        assert "2 changes" in blockers(result)["max_changes", ""]

    def test_the_probability_asked_for(self, banker: ProCE) -> None:
        row = one(school="none", savings=0, debt=100)
        result = banker.explain(row, min_probability=0.999)
        assert ("min_probability", "") in blockers(result)
        assert result[0].diagnosis.needed == 0.999

    def test_the_smallest_step_comes_first(self, banker: ProCE) -> None:
        result = banker.explain(
            one(), vary=["savings", "debt"], ranges={"savings": (0, 25), "debt": (40, 100)}
        )
        distances = [each.distance for each in result[0].diagnosis.blockers]
        assert distances == sorted(distances)
        assert result[0].diagnosis.searched >= 2

    def test_a_limit_that_does_not_block_is_not_named(self) -> None:
        """The age, too, may only rise, but the model does not look at it."""
        schema = SCHEMA.edit(["savings", "debt", "school"], action=Action.FIXED)
        found = blockers(explainer_with(schema=schema).explain(one(savings=55, school="basic")))
        assert ("increase", "age") not in found
        assert ("fixed", "savings") in found

    def test_limits_that_block_only_together_are_not_named(self) -> None:
        """With debts of 100, neither savings nor the debts alone can move far enough."""
        schema = SCHEMA.edit("school", action=Action.FIXED)
        for name, limits in (("savings", (0, 20)), ("debt", (70, 100))):
            schema = schema.edit(name, range=limits)
        row = one(savings=0, debt=100, school="none")
        result = explainer_with(schema=schema).explain(row)
        diagnosis = result[0].diagnosis
        assert diagnosis.blockers == ()
        assert f"{diagnosis.searched} limits were lifted, one at a time" in diagnosis.reason

    def test_a_limit_of_a_feature_that_may_not_vary_is_not_to_blame(self) -> None:
        """More savings would do, and they may only fall; but the call does not let them vary."""
        schema = SCHEMA.edit("savings", action=Action.DECREASE)
        found = blockers(explainer_with(schema=schema).explain(one(), vary=["school"]))
        assert ("vary", "") in found
        assert found["vary", ""] == "if debt may vary too"
        assert {kind for kind, _ in found} == {"vary"}

    def test_a_rule_that_stands_twice_is_lifted_and_named_once(self) -> None:
        rule = "cf.savings <= x.savings"
        explainer = explainer_with(rules=[rule])
        result = explainer.explain(one(debt=10, savings=5), vary=["savings", "age"], rules=[rule])
        kinds = [(each.kind, each.name) for each in result[0].diagnosis.blockers]
        assert kinds.count(("rule", rule)) == 1

    def test_every_kind_of_limit_has_its_own_words(self) -> None:
        schema = SCHEMA.edit("savings", action=Action.DECREASE)
        schema = schema.edit("debt", action=Action.INCREASE)
        found = blockers(explainer_with(schema=schema).explain(one()))
        assert found["decrease", "savings"].startswith("if savings could also rise to ")
        assert found["increase", "debt"].startswith("if debt could also fall to ")
        fixed = SCHEMA.edit(["savings", "debt", "age"], action=Action.FIXED)
        found = blockers(explainer_with(schema=fixed).explain(one(savings=45, school="none")))
        assert found["fixed", "savings"].startswith("if savings were not fixed, but ")
        assert len(set(found.values())) == len(found)

    def test_what_is_told_would_do(self, banker: ProCE) -> None:
        """The relaxed call finds a way at the value told, or nearer."""
        ranges = {"savings": (0, 25), "debt": (40, 100)}
        result = banker.explain(one(), vary=["savings", "debt"], ranges=ranges)
        for name, end in (("savings", 0), ("debt", 1)):
            told = float(blockers(result)["range", name].split()[-1])
            limits = (told, 100) if end else (0, told)
            relaxed = banker.explain(
                one(), vary=["savings", "debt"], ranges={**ranges, name: limits}
            )
            assert relaxed[0].outcome == "found"

    def test_all_lost_rows_are_diagnosed_each_at_a_bounded_cost(self) -> None:
        """The diagnosis of a row asks the model about fewer rows than a search for it may."""
        model = WatchedBank()
        settings = replace(SETTINGS, population_size=60, n_offspring=60, n_generations=25)
        explainer = ProCE(model, schema=SCHEMA, settings=settings).fit(people())
        asked: dict[str, int] = {}

        def count(progress: Progress) -> None:
            asked.setdefault(progress.stage, sum(model.sizes))

        rows = refused(people(), 11)
        result = explainer.explain(rows, vary=["age"], n=1, progress=count)
        lost = [item.diagnosis for item in result if item.outcome == "not_found"]
        assert len(lost) == 11
        assert all(each.blockers and each.searched > 0 for each in lost)
        assert sum(model.sizes) - asked["diagnose"] <= len(rows) * 60 * 25

    def test_it_is_reported_while_it_goes_on(self, banker: ProCE) -> None:
        told: list[Progress] = []
        banker.explain(one(), vary=["age"], progress=told.append)
        stages = [each.stage for each in told]
        assert stages.index("diagnose") > stages.index("search")
        looked = [each for each in told if each.stage == "diagnose"]
        assert looked[-1].done == looked[-1].total
        assert [each.done for each in looked] == sorted(each.done for each in looked)

    def test_it_can_be_cut_short(self, banker: ProCE) -> None:
        result = banker.explain(
            one(), vary=["age"], progress=lambda progress: progress.stage != "diagnose"
        )
        assert result[0].outcome == "not_found"
        assert "not searched" in result[0].diagnosis.reason
        assert result[0].diagnosis.closest_miss is not None

    def test_a_search_that_is_too_short_goes_on_by_itself(self) -> None:
        """One generation of four candidates finds nothing; what is scanned before it does."""
        short = replace(TINY, population_size=4, n_offspring=4, n_generations=1)
        rows = refused(people(), 8)
        counted = explainer_with(settings=short).explain(
            rows, n=1, min_probability=0.9, max_evaluations=4
        )
        assert (counted.outcomes()["outcome"] == "not_found").all()
        result = explainer_with(settings=short).explain(rows, n=1, min_probability=0.9)
        assert (result.outcomes()["outcome"] == "found").all()


class TestHopeless:
    """A model that never says the target: nothing is searched, and the reason is told."""

    def test_a_constant_model(self) -> None:
        explainer = ProCE(never, schema=SCHEMA, settings=TINY).fit(people())
        result = explainer.explain(people(n=5, seed=9))
        assert (result.outcomes()["outcome"] == "not_found").all()
        for item in result:
            assert "same answer for every row" in item.diagnosis.reason
            assert "never says class 1" in item.diagnosis.reason
        assert len(result.counterfactuals()) == 0

    def test_a_class_that_no_training_row_has(self) -> None:
        def hardly(frame: pd.DataFrame) -> Any:
            return two_classes(0.4 * bank(frame)[:, 1])

        explainer = ProCE(hardly, schema=SCHEMA, settings=TINY).fit(people())
        result = explainer.explain(people(n=3, seed=9))
        assert all("none of the 300 rows" in item.diagnosis.reason for item in result)


class TestContradiction:
    """Rules that nobody can obey are refused before anything is searched."""

    RULES = ("cf.savings > x.savings", "cf.savings <= x.savings", "cf.age >= x.age")

    def test_when_the_explainer_is_fitted(self) -> None:
        with pytest.raises(RuleError, match="contradict") as error:
            ProCE(bank, schema=SCHEMA, rules=self.RULES, settings=TINY).fit(people())
        assert "'cf.savings > x.savings' and 'cf.savings <= x.savings'" in str(error.value)
        assert "cf.age" not in str(error.value)

    def test_when_a_call_adds_the_other_half(self) -> None:
        explainer = explainer_with(rules=self.RULES[:1])
        told: list[Progress] = []
        with pytest.raises(RuleError, match="contradict"):
            explainer.explain(one(), rules=self.RULES[1:], progress=told.append)
        assert told == []

    def test_a_rule_that_contradicts_itself(self, banker: ProCE) -> None:
        with pytest.raises(RuleError, match="no row can obey the rule"):
            banker.explain(one(), rules=["cf.savings > 50 and cf.savings < 40"])

    def test_rules_that_only_one_person_cannot_obey_are_an_outcome(self, banker: ProCE) -> None:
        result = banker.explain(one(age=70), rules=["cf.age <= 30", "cf.age >= x.age"])
        assert result[0].outcome == "not_found"
