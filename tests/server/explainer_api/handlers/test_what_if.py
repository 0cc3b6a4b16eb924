"""What if: the decision on a row with values set by hand, what follows, and what that breaks."""

from typing import Any

import pytest

from proce import ProCE
from proce.errors import ModelError
from proce.server.explainer_api.api import ExplainerApi
from proce.server.explainer_api.errors import RequestError
from proce.server.explainer_api.handlers import what_if

from ....worlds import SCHEMA, TINY, bank, one, people


@pytest.fixture(scope="module")
def api() -> ExplainerApi:
    explainer = ProCE(bank, SCHEMA, rules=["cf.savings <= 90"], settings=TINY)
    return ExplainerApi(explainer.fit(people()))


PERSON = one().iloc[0].to_dict()  # (20 - 40) / 25 - 0.75 = -1.55


def test_without_changes_it_is_the_decision_on_the_row(api: ExplainerApi) -> None:
    answer = api.what_if(row=PERSON)
    assert answer["before"] == answer["after"]
    assert answer["row"] == PERSON
    decision = answer["before"]
    assert (decision["prediction"], decision["label"], decision["target"]) == (0, "class 0", 1)
    assert decision["probability"] == pytest.approx(0.1751, abs=1e-4)  # 1 / (1 + e^1.55)
    assert decision["needed"] == 0.5
    assert [own["value"] for own in decision["probabilities"]] == [0, 1]


def test_changes_move_the_decision(api: ExplainerApi) -> None:
    answer = api.what_if(row=PERSON, changes={"savings": 60, "school": "high"}, target=1)
    assert answer["after"]["prediction"] == 1
    assert answer["after"]["probability"] == pytest.approx(0.6341, abs=1e-4)  # a score of 0.55
    assert answer["changes"] == [
        {"feature": "savings", "before": 20, "after": 60},
        {"feature": "school", "before": "basic", "after": "high"},
    ]
    assert (answer["broken"], answer["notes"], answer["consequences"]) == ([], [], [])


def test_rules_limits_and_rounding_are_told(api: ExplainerApi) -> None:
    changes = {"savings": 95, "debt": 50, "home": "owns", "age": 130}
    answer = api.what_if(row=PERSON, changes=changes)
    assert answer["broken"] == [
        "cf.savings <= 90",
        "debt may only fall: from 40 it cannot rise to 50.",
        "home is fixed: it cannot change.",
        "age must be between 18 and 90, not 130.",
    ]
    assert answer["notes"] == [
        "age was between 20 and 79 in all training rows: what the model says beyond is a guess."
    ]
    assert answer["row"] == {**PERSON, **changes}


def test_values_go_on_top_of_a_row_of_the_file(loan_api: ExplainerApi) -> None:
    own = loan_api.what_if(row_id=3)["row"]
    answer = loan_api.what_if(row_id=3, row={"savings": 4_200}, changes={})
    assert answer["row"] == {**own, "savings": 4_200}


def test_the_class_of_a_request_may_be_the_target(api: ExplainerApi) -> None:
    answer = api.what_if(row=PERSON, target=0)
    assert answer["before"]["target"] == 0
    assert answer["before"]["probability"] == pytest.approx(1 - 0.1751, abs=1e-4)


@pytest.mark.parametrize(
    ("question", "field"),
    [
        ({"row": {"age": 3}}, "row.savings"),
        ({"row_id": 0}, "row_id"),
        ({"row": PERSON, "changes": {"salary": 3}}, "changes.salary"),
        ({"row": PERSON, "changes": {"savings": None}}, "changes.savings"),
        ({"row": PERSON, "changes": {"savings": "much"}}, "changes.savings"),
        ({"row": PERSON, "changes": {"savings": float("inf")}}, "changes.savings"),
        ({"row": PERSON, "changes": {"school": "phd"}}, "changes.school"),
        ({"row": PERSON, "target": True}, "target"),
    ],
)
def test_a_wrong_question_is_refused(
    api: ExplainerApi, question: dict[str, Any], field: str
) -> None:
    with pytest.raises(RequestError) as caught:
        api.what_if(**question)
    assert caught.value.field == field


def test_what_would_follow_beyond_all_measure_is_told_of_the_changes(
    loan_api: ExplainerApi,
) -> None:
    with pytest.raises(RequestError, match="beyond anything that the explainer knows") as caught:
        loan_api.what_if(row_id=0, changes={"age": 10_000_000})
    assert caught.value.field == "changes"


def test_an_applicant_is_not_told_the_words_of_a_model_that_fails(
    private_api: ExplainerApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> object:
        raise ModelError("cannot convert 'north'")

    monkeypatch.setattr(what_if, "predict_read_frame", broken)
    with pytest.raises(RequestError, match="the model cannot answer for this row"):
        private_api.what_if(row_id=0)
    with pytest.raises(RequestError, match="cannot convert 'north'"):
        private_api.what_if(row_id=0, view="auditor")


def test_rules_are_checked_one_by_one_with_the_place_of_a_mistake(api: ExplainerApi) -> None:
    texts = ["cf.age >= x.age", "cf.age >= ", "cf.agee > 3", "", "x" * 3_000]
    fine, unfinished, unknown, empty, long = api.check_rules(texts)["rules"]
    assert fine == {"text": texts[0], "ok": True, "error": None, "position": None}
    assert (unfinished["ok"], unfinished["position"]) == (False, 10)
    assert unknown["position"] == 3
    assert "Did you mean 'age'?" in unknown["error"]
    assert (empty["ok"], empty["position"]) == (False, 0)
    assert (long["ok"], long["position"]) == (False, None)
