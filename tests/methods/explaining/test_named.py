"""What a schema says of words, effort, avoided levels and protection, in what is advised."""

from typing import Any

import pytest

from proce import CausalGraph, ProCE
from proce.errors import ModelError, SchemaError
from proce.methods.published.nearest import Nearest

from ...worlds import SCHEMA, SETTINGS, actions_of, bank, one, people, refused

WORDS = {0: "rejected", 1: "approved"}


def fitted(schema: Any = SCHEMA, **parameters: Any) -> ProCE:
    return ProCE(bank, schema=schema, settings=SETTINGS, **parameters).fit(people())


def test_an_avoided_level_is_never_advised() -> None:
    applicant = one(savings=53)  # a high school would do
    free = fitted().explain(applicant, effort={"school": 0.1})
    assert "high" in set(actions_of(free)["after"])
    bound = fitted(SCHEMA.edit("school", avoid=["high"])).explain(applicant, effort={"school": 0.1})
    assert bound[0].outcome == "found"
    assert "high" not in set(actions_of(bound)["after"])


def test_who_has_an_avoided_level_may_keep_it() -> None:
    schema = SCHEMA.edit("school", avoid=["none"])
    result = fitted(schema).explain(one(school="none"), vary=["savings"])
    assert (result.counterfactuals()["school"] == "none").all()
    assert len(result.counterfactuals())


def test_a_published_method_advises_no_avoided_level() -> None:
    schema = SCHEMA.edit("school", avoid=["high", "none"])
    result = Nearest(bank, schema=schema).fit(people()).explain(refused(people(seed=5), 6))
    after = result.changes().query("feature == 'school'")["after"]
    assert set(after) <= {"basic"}


@pytest.mark.parametrize("graph", [None, CausalGraph([("savings", "debt")])])
def test_a_protected_feature_is_never_acted_on_or_held(graph: CausalGraph | None) -> None:
    schema = SCHEMA.edit("debt", protected=True, action="free")
    result = fitted(schema, graph=graph).explain(refused(people(seed=5), 8))
    assert len(result.counterfactuals())
    assert "debt" not in set(actions_of(result)["feature"])


def test_a_published_method_does_not_move_a_protected_feature() -> None:
    schema = SCHEMA.edit("debt", protected=True, action="free")
    result = Nearest(bank, schema=schema).fit(people()).explain(refused(people(seed=5), 6))
    assert "debt" not in set(result.changes()["feature"])


def test_asking_for_a_protected_feature_is_refused() -> None:
    with pytest.raises(SchemaError, match="vary names 'debt', which is protected"):
        fitted(SCHEMA.edit("debt", protected=True)).explain(one(), vary=["debt"])


def test_a_protected_feature_that_blocks_is_told_to_an_auditor_alone() -> None:
    """Owning a home is all that could help, and it is protected."""
    schema = SCHEMA.edit("home", protected=True)
    result = fitted(schema.edit(["savings", "debt", "school"], action="fixed")).explain(
        one(savings=40, school="high"), target=1
    )
    assert result[0].outcome == "not_found"
    assert "home" not in repr(result[0].diagnosis)
    assert "home" not in str(result[0])
    whole = result.seen_by("auditor")[0].diagnosis
    assert whole is not None
    assert "home" in (whole.closest_miss or {})
    assert ("protected", "home") in {(blocker.kind, blocker.name) for blocker in whole.blockers}


def test_the_effort_of_the_schema_holds_until_a_call_replaces_it() -> None:
    applicant = one(savings=45, debt=40)
    hard = fitted(SCHEMA.edit("savings", effort=10).edit("debt", effort=0.1))
    assert "savings" not in set(actions_of(hard.explain(applicant, n=1))["feature"])
    usual = {"savings": 1, "debt": 1}
    replaced = hard.explain(applicant, n=4, effort=usual)
    assert replaced.to_frame().equals(fitted().explain(applicant, n=4, effort=usual).to_frame())


def test_classes_are_told_by_their_names() -> None:
    result = fitted(classes=WORDS).explain(one())
    text = str(result[0])
    assert "the model would have said approved" in text
    assert "class 1" not in text
    assert result.reasons().letter(0).count("rejected")
    again = type(result).from_json(result.to_json())
    assert str(again[0]) == text
    assert result.outcomes()["target"].tolist() == [1]  # tables keep the model's own labels


def test_classes_can_be_named_after_the_fit() -> None:
    explainer = fitted()
    explainer.set_params(classes={1: "yes indeed"})
    assert "yes indeed" in str(explainer.explain(one())[0])


def test_names_of_classes_are_saved(tmp_path: Any) -> None:
    fitted(classes=WORDS).save(tmp_path / "bank")
    loaded = ProCE.load(tmp_path / "bank", model=bank)
    assert loaded.classes == WORDS
    assert "approved" in str(loaded.explain(one())[0])


@pytest.mark.parametrize(
    ("classes", "error", "message"),
    [
        ({2: "x"}, ModelError, "unknown class 2"),
        (["a", "b"], ModelError, "expected words by class"),
        ({0: "same", 1: "same"}, ModelError, "two classes the same words"),
        ({0: "a\nb"}, SchemaError, "the label of 0 holds the character U\\+000A"),
    ],
)
def test_wrong_names_of_classes_are_refused(classes: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        fitted(classes=classes)


def test_a_published_method_names_classes_too() -> None:
    result = Nearest(bank, schema=SCHEMA, classes=WORDS).fit(people()).explain(one())
    assert "approved" in str(result[0])
