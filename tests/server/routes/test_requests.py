"""Requests: nothing is coerced, nothing unknown is taken, everything is bounded."""

import math
from typing import Any

import pytest
from pydantic import ValidationError

from proce.server.routes.answers import field_path, validation_body
from proce.server.routes.explanations import ExplanationRequest
from proce.server.routes.questions import RulesRequest, WhatIfRequest
from proce.server.routes.values import MAX_NAME_LENGTH, MAX_RULE_LENGTH, MAX_RULES, GraphInput
from proce.server.routes.views import ViewRequest


def refusal(model: Any, body: Any) -> dict[str, Any]:
    with pytest.raises(ValidationError) as refused:
        model.model_validate(body)
    return validation_body(refused.value.errors())


def test_a_request_needs_only_rows() -> None:
    request = ExplanationRequest.model_validate({"row_ids": [0]})
    assert request.model_dump(exclude_unset=True) == {"row_ids": [0]}


@pytest.mark.parametrize("model", [ExplanationRequest, GraphInput, RulesRequest, WhatIfRequest])
def test_the_examples_of_a_model_are_valid(model: Any) -> None:
    examples = model.model_json_schema()["examples"]
    assert [model.model_validate(example) for example in examples]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "rows"),
        ({"row_ids": [0], "rows": [{"age": 1}]}, "rows"),
        ({"row_ids": []}, "row_ids"),
        ({"row_ids": [-1]}, "row_ids[0]"),
        ({"row_ids": ["0"]}, "row_ids[0]"),
        ({"row_ids": [True]}, "row_ids[0]"),
        ({"row_ids": [0, 1], "values": {"age": 1}}, "values"),
        ({"rows": [{"age": 1}], "values": {"age": 1}}, "values"),
        ({"rows": [{"age": math.nan}]}, "rows[0].age"),
        ({"rows": [{"age": -math.inf}]}, "rows[0].age"),
        ({"rows": [{"age": [1]}]}, "rows[0].age"),
        ({"rows": [{"age": {"a": 1}}]}, "rows[0].age"),
        ({"rows": [{"age": 10**30}]}, "rows[0].age"),
        ({"rows": [{"job": "a" * (MAX_NAME_LENGTH + 1)}]}, "rows[0].job"),
        ({"rows": {"age": 1}}, "rows"),
        ({"row_ids": [0], "n": "5"}, "n"),
        ({"row_ids": [0], "n": -1}, "n"),
        ({"row_ids": [0], "n": 1.5}, "n"),
        ({"row_ids": [0], "n": True}, "n"),
        ({"row_ids": [0], "n": 10**400}, "n"),
        ({"row_ids": [0], "pick": "best"}, "pick"),
        ({"row_ids": [0], "vary": "age"}, "vary"),
        ({"row_ids": [0], "ranges": {"age": [1]}}, "ranges.age"),
        ({"row_ids": [0], "ranges": {"age": [1, math.inf]}}, "ranges.age[1]"),
        ({"row_ids": [0], "effort": {"age": 0}}, "effort.age"),
        ({"row_ids": [0], "effort": {"age": "2"}}, "effort.age"),
        ({"row_ids": [0], "effort": {"age": True}}, "effort.age"),
        ({"row_ids": [0], "effort": {"age": math.nan}}, "effort.age"),
        ({"row_ids": [0], "effort": {"age": 10**400}}, "effort.age"),
        ({"row_ids": [0], "min_probability": 1.5}, "min_probability"),
        ({"row_ids": [0], "max_changes": 0}, "max_changes"),
        ({"row_ids": [0], "budget_seconds": 0}, "budget_seconds"),
        ({"row_ids": [0], "rules": ["a"] * (MAX_RULES + 1)}, "rules"),
        ({"row_ids": [0], "rules": ["a" * (MAX_RULE_LENGTH + 1)]}, "rules[0]"),
        ({"row_ids": [0], "rules": [1]}, "rules[0]"),
        ({"row_ids": [0], "graph": {}}, "graph.dagitty"),
        ({"row_ids": [0], "graph": {"edges": [["a"]]}}, "graph.edges[0]"),
        ({"row_ids": [0], "graph": {"edges": [["a", "b", "c"]]}}, "graph.edges[0]"),
        ({"row_ids": [0], "causal": "maybe"}, "causal"),
        ({"row_ids": [0], "tagret": "approved"}, "tagret"),
    ],
)
def test_a_wrong_field_is_named(body: dict[str, Any], field: str) -> None:
    told = refusal(ExplanationRequest, body)
    assert field in [one["field"] for one in told["fields"]]
    assert told["message"].startswith(f"{told['fields'][0]['field']}: ")


def test_a_what_if_needs_a_row() -> None:
    assert refusal(WhatIfRequest, {"changes": {"age": 3}})["fields"][0]["field"] == "row"


def test_a_view_takes_any_object_and_nothing_else() -> None:
    assert ViewRequest.model_validate({"state": {"a": [1, {"b": None}]}})
    assert refusal(ViewRequest, {"state": [1]})["fields"][0]["field"] == "state"


def test_many_errors_are_counted_and_few_are_listed() -> None:
    told = refusal(ExplanationRequest, {"effort": {str(n): 0 for n in range(500)}})
    assert "more fields" in told["message"]
    assert len(told["fields"]) == 20


def test_a_path_is_written_as_people_write_it() -> None:
    assert field_path(["rows", 0, "hours per week"]) == "rows[0].hours per week"
    assert field_path(["effort", "age", "[key]"]) == "effort.age"
    assert field_path([]) == "body"
