"""Everything that can be refused before a search is refused, with the field that is wrong."""

import math
import pickle
from dataclasses import replace
from typing import Any

import pytest

from proce.server.explainer_api.api import ExplainerApi
from proce.server.explainer_api.errors import RequestError

BIG = 10**400  # an integer of JSON that no float can hold


@pytest.fixture(scope="module")
def row(loan_api: ExplainerApi) -> dict[str, Any]:
    """The values of a row of the loan."""
    values: dict[str, Any] = loan_api.rows(limit=1, view="auditor")["rows"][0]["values"]
    return values


def refusal(api: ExplainerApi, request: dict[str, Any]) -> RequestError:
    with pytest.raises(RequestError) as caught:
        api.check(request)
    assert len(str(caught.value)) < 2_000  # whatever was sent
    return caught.value


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("much", "is a number; got 'much'"),
        (True, "is a number; got true"),
        ([1], "is a number; got a list"),
        (math.nan, "finite"),
        (math.inf, "finite"),
        (1e300, "far beyond"),
        (2.5, "whole number"),
        (None, "missing, which it was in no row"),
    ],
)
def test_a_wrong_number_is_refused(
    loan_api: ExplainerApi, row: dict[str, Any], value: Any, words: str
) -> None:
    error = refusal(loan_api, {"rows": [row, {**row, "savings": value}]})
    assert error.field == "rows[1].savings"
    assert words in error.message


@pytest.mark.parametrize("value", ["castle", 1, True, {}, "x" * 100_000])
def test_a_wrong_level_is_refused(loan_api: ExplainerApi, row: dict[str, Any], value: Any) -> None:
    error = refusal(loan_api, {"rows": [{**row, "housing": value}]})
    assert error.field == "rows[0].housing"
    assert "is no level of 'housing'" in error.message


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"row_ids": [60]}, "row_ids[0]", "the rows of the file are 0 to 59"),
    ({"row_ids": [4, 5, 4]}, "row_ids[2]", "row 4 is there already"),
    ({"row_ids": [0], "values": {"salary": 1}}, "values.salary", "no feature 'salary'"),
    ({"row_ids": [0], "target": "maybe"}, "target", "no class of the model"),
    ({"row_ids": [0], "n": -1}, "n", "from 1 on"),
    ({"row_ids": [0], "n": 2.5}, "n", "whole number"),
    ({"row_ids": [0], "pick": "best"}, "pick", "expected one of"),
    ({"row_ids": [0], "vary": ["savings", "salary"]}, "vary[1]", "no feature 'salary'"),
    ({"row_ids": [0], "vary": []}, "vary", "vary is empty"),
    ({"row_ids": [0], "ranges": {"savings": [9, 1]}}, "ranges.savings", "lower limit first"),
    ({"row_ids": [0], "ranges": {"savings": ["a", 1]}}, "ranges.savings", "number"),
    ({"row_ids": [0], "ranges": {"savings": [math.nan, 1]}}, "ranges.savings", ""),
    ({"row_ids": [0], "ranges": {"savings": [0, BIG]}}, "ranges.savings", ""),
    ({"row_ids": [0], "ranges": {"savings": [0, [1]]}}, "ranges.savings", ""),
    ({"row_ids": [0], "effort": {"savings": 11}}, "effort.savings", "0.1 (easy) to 10"),
    ({"row_ids": [0], "effort": {"savings": "hard"}}, "effort.savings", "0.1 (easy) to 10"),
    ({"row_ids": [0], "effort": {"savings": BIG}}, "effort.savings", "0.1 (easy) to 10"),
    ({"row_ids": [0], "min_probability": 1.5}, "min_probability", "at most 1"),
    ({"row_ids": [0], "min_probability": math.nan}, "min_probability", "at most 1"),
    ({"row_ids": [0], "max_changes": 0}, "max_changes", "from 1 on"),
    ({"row_ids": [0], "budget_seconds": -1}, "budget_seconds", "positive"),
    ({"row_ids": [0], "causal": "gently"}, "causal", "expected one of"),
    ({"row_ids": [0], "rules": ["cf.age >= x.age", "cf.agee > 1"]}, "rules[1]", "Did you mean"),
    ({"row_ids": [0], "rules": ["(" * 100_000]}, "rules[0]", "too long"),
    ({"row_ids": [0], "rules": ["not " * 499 + "x"]}, "rules[0]", "deep"),
    ({"row_ids": [0], "rules": ["cf.age < x.age"]}, "rules", "contradict"),
    (
        {"row_ids": [0], "graph": {"edges": [["age", "job"], ["job", "age"]]}},
        "graph.edges",
        "cycle",
    ),
    ({"row_ids": [0], "graph": {"edges": [["age", "age"]]}}, "graph.edges", "own cause"),
    ({"row_ids": [0], "graph": {"edges": [["age", "salary"]]}}, "graph.edges", "no feature"),
    ({"row_ids": [0], "graph": {"dagitty": "dag {"}}, "graph.dagitty", "end of the text"),
    (
        {"row_ids": [0], "graph": {"dagitty": "pdag { age -- job }"}},
        "graph.dagitty",
        "no direction",
    ),
]


@pytest.mark.parametrize(("request_", "field", "words"), WRONG, ids=[str(w[1:]) for w in WRONG])
def test_a_wrong_field_is_named(
    loan_api: ExplainerApi, request_: dict[str, Any], field: str, words: str
) -> None:
    error = refusal(loan_api, request_)
    assert error.field == field
    assert words in error.message


def test_a_row_must_have_all_of_its_features(loan_api: ExplainerApi, row: dict[str, Any]) -> None:
    rest = {name: value for name, value in row.items() if name not in ("age", "debt")}
    error = refusal(loan_api, {"rows": [rest]})
    assert error.field == "rows[0].age"
    assert "lacks 'age', 'debt'" in error.message
    salary = {**row, "salary": 3}
    assert refusal(loan_api, {"rows": [salary]}).field == "rows[0].salary"


def test_values_go_on_top_of_a_row_of_the_file(loan_api: ExplainerApi, row: dict[str, Any]) -> None:
    request = {"row_ids": [0], "values": {"savings": row["savings"] + 100}, "n": 1}
    assert loan_api.check(request) == request
    document = loan_api.explain(request)["results"]["auditor"]
    ways = loan_api.ways(document, request, 0, "auditor")
    told = {value["feature"]: value["value"] for value in ways["values"]}
    assert told == {**row, "savings": row["savings"] + 100}
    assert ways["row_id"] is None  # it is no longer the row of the file


def test_a_missing_value_is_null_where_training_rows_lacked_some(private_api: ExplainerApi) -> None:
    row = {"birthplace": "north", "study": 3.0, "skill": 4, "tests": None, "member": False}
    document = private_api.explain({"rows": [row], "n": 1})["results"]["auditor"]
    ways = private_api.ways(document, {}, 0, "auditor")
    told = {value["feature"]: (value["value"], value["text"]) for value in ways["values"]}
    assert told["tests"] == (None, "missing")
    assert told["member"] == (False, "false")
    with pytest.raises(RequestError, match=r"no level of 'member'; the levels are false, true"):
        private_api.check({"rows": [{**row, "member": "false"}]})
    with pytest.raises(RequestError, match=r"no level of 'member'"):
        private_api.check({"rows": [{**row, "member": 0}]})


def test_robust_advice_can_be_asked_for_where_the_model_can_be_fitted_again(
    loan_api: ExplainerApi, private_api: ExplainerApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert loan_api.check({"row_ids": [0], "robust": 0.9})["robust"] == 0.9
    without = replace(private_api._fitted, model_refits=None)  # as if saved without labels
    monkeypatch.setattr(private_api._graphs.explainer, "fitted_", without)
    error = refusal(private_api, {"row_ids": [0], "robust": 0.9})
    assert error.field == "robust"
    assert "there are none" in error.message


def test_the_error_survives_the_way_between_processes() -> None:
    error = RequestError("rules[0]", "what is wrong.")
    error.position = 7
    read = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert (read.field, read.message, read.position) == ("rules[0]", "what is wrong.", 7)
    assert str(read) == "rules[0]: what is wrong."
