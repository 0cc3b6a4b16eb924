"""How variants are used in a world: the classifier, the class that is wanted, the limits."""

from dataclasses import replace

import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from proce.benchmark import Plan
from proce.benchmark.measuring.contenders import Contenders
from proce.benchmark.measuring.measure import evaluate_result
from proce.benchmark.measuring.world import World
from proce.benchmark.plan import Variant
from proce.explanation import Explanations

from ..datasets.real_files import needs_real_files
from .conftest import QUICKEST


@pytest.fixture(scope="module")
def loan(small_plan: Plan) -> Contenders:
    return Contenders(World.prepare(small_plan, "loan", "first", 0), small_plan)


def test_dice_has_the_plans_time_for_a_row(loan: Contenders) -> None:
    """Its own limit is 30 seconds, in which a cell could take three times as long as any other."""
    pytest.importorskip("dice_ml")
    slow = Variant(name="DiCE gradient", method="Dice", settings={"method": "gradient"})
    quick = Contenders(loan.world, replace(loan.plan, row_seconds=0.2, rows=2))
    result = quick.contender(slow).explain(loan.world.factual[:2])
    assert result.provenance.settings["seconds_per_row"] == 0.2
    assert [len(item) for item in result] == [0, 0]


@pytest.mark.filterwarnings("ignore::proce.causal.DiscoveryWarning")
def test_a_discovered_graph_has_the_default_equations(loan: Contenders) -> None:
    variant = Variant(name="x", method="ProCE", graph="discovered", settings=QUICKEST)
    result: Explanations = loan.contender(variant).explain(loan.world.factual)
    assert result.provenance.mode == "soft"
    assert result.provenance.graph == "discovered by direct_lingam"
    assert all(len(item) for item in result)


@needs_real_files
def test_borrowers_are_helped_out_of_the_class_of_defaults(small_plan: Plan) -> None:
    """There class 1 is the one that nobody wants, and the model is made of trees."""
    plan = replace(
        small_plan, datasets=("german_credit",), classifiers_of={"german_credit": ("trees",)}
    )
    world = World.prepare(plan, "german_credit", "trees", 0)
    assert isinstance(world.model, HistGradientBoostingClassifier)
    assert world.model.predict(world.factual).tolist() == [1] * 4
    contenders = Contenders(world, plan)
    for variant in (
        Variant(name="a", method="Nearest", setting="recourse"),
        Variant(name="b", method="ProCE", setting="recourse", settings=QUICKEST),
    ):
        result = contenders.contender(variant).explain(world.factual)
        assert world.model.predict(result.counterfactuals()).tolist() == [0] * 4
        measured = evaluate_result(world, result).query("rank == 1").groupby("metric")["value"]
        assert measured.mean()[["target_class_validity", "within_limits"]].tolist() == [1, 1]
        assert "actionable_success" not in measured.groups  # the truth is not known
