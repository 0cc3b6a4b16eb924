"""Whatever features are called and whatever is sent, an explainer answers or refuses with words."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from proce.server.explainer_api.api import ExplainerApi
from proce.server.explainer_api.errors import RequestError
from proce.server.routes.explanations import ExplanationRequest
from proce.server.routes.questions import WhatIfRequest

from ..conftest import EMOJI, LONG, QUOTES, RIGHT_TO_LEFT, SCRIPT


@pytest.fixture(scope="module")
def told(hostile_api: ExplainerApi) -> tuple[dict[str, Any], str]:
    rows = [row["row"] for row in hostile_api.rows(prediction="0", limit=2)["rows"]]
    request = {"row_ids": rows, "target": 1}
    return request, hostile_api.explain(request)["results"]["applicant"]


def test_names_and_levels_come_back_as_they_are(hostile_api: ExplainerApi) -> None:
    schema = hostile_api.schema()
    assert [feature["name"] for feature in schema["features"]] == [
        SCRIPT,
        QUOTES,
        EMOJI,
        RIGHT_TO_LEFT,
    ]
    assert [level["value"] for level in schema["features"][2]["levels"]][-1] == LONG
    assert [own["label"] for own in schema["classes"]] == [SCRIPT, QUOTES]
    where = f"x[{json.dumps(EMOJI, ensure_ascii=False)}] == {json.dumps(SCRIPT)}"
    rows = hostile_api.rows(where=where, sort=QUOTES)["rows"]
    assert {row["values"][EMOJI] for row in rows} == {SCRIPT}


def test_a_result_with_such_names_is_told(
    hostile_api: ExplainerApi, told: tuple[dict[str, Any], str]
) -> None:
    request, document = told
    ways = hostile_api.ways(document, request, 0)
    assert ways["decision"]["target_label"] == QUOTES
    assert ways["label"] == f"row {request['row_ids'][0]}"
    report = hostile_api.report(document)
    assert SCRIPT not in report  # it is escaped
    assert "&lt;script&gt;" in report
    assert json.loads(json.dumps(ways)) == ways
    assert hostile_api.letter(document)
    assert hostile_api.csv(document)
    assert hostile_api.cohort(document, request, EMOJI)["groups"]


def test_messages_stay_short_beside_long_names(hostile_api: ExplainerApi) -> None:
    row = hostile_api.rows(limit=1)["rows"][0]["values"]
    for wrong in ({EMOJI: "x" * 50_000}, {"y" * 50_000: 1}, {EMOJI: LONG[:-1]}):
        with pytest.raises(RequestError) as caught:
            hostile_api.check({"rows": [{**row, **wrong}]})
        assert len(caught.value.message) < 1_000
    with pytest.raises(RequestError) as caught:
        hostile_api.check({"row_ids": [0], "rules": [f"cf[{json.dumps(EMOJI)}] == 'none'"]})
    assert caught.value.field == "rules[0]"
    assert len(caught.value.message) < 3_000


NAMES = st.text(max_size=8) | st.sampled_from(["age", "edges"])
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["savings", "age", "sex", "approved", "cf.age > 3", "auditor"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150)
@given(field=st.sampled_from([*ExplanationRequest.model_fields, "tagret"]), value=ANYTHING)
def test_any_value_of_any_field_is_taken_or_refused(
    loan_api: ExplainerApi, field: str, value: Any
) -> None:
    with suppress(ValidationError, RequestError):  # any other error is a failure of ours
        sent = ExplanationRequest.model_validate({"row_ids": [0], field: value})
        loan_api.check(sent.as_sent())


@settings(max_examples=80)
@given(changes=st.dictionaries(st.sampled_from(["savings", "job", "x"]), ANYTHING, max_size=2))
def test_any_change_is_tried_or_refused(loan_api: ExplainerApi, changes: dict[str, Any]) -> None:
    with suppress(ValidationError, RequestError):
        sent = WhatIfRequest.model_validate({"row_id": 0, "changes": changes})
        answer = loan_api.what_if(row_id=0, changes=sent.changes)
        json.dumps(answer, allow_nan=False)


@settings(max_examples=80)
@given(text=st.text(max_size=60))
def test_any_text_is_parsed_or_refused(loan_api: ExplainerApi, text: str) -> None:
    with suppress(RequestError):
        loan_api.parse_row(text)
    with suppress(RequestError):
        loan_api.rows(where=text, limit=1)
    assert isinstance(loan_api.check_graph(text)["ok"], bool)
    assert [rule["text"] for rule in loan_api.check_rules([text])["rules"]] == [text]
