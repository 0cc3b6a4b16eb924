"""A desk answers every question about an explainer with plain values of JSON."""

import json
from typing import Any

import pytest

from proce.server.desk.desk import Desk
from proce.server.desk.errors import RequestError


def plain(answer: Any) -> Any:
    """Return an answer after a trip through JSON, which refuses NaN and what is no plain value."""
    return json.loads(json.dumps(answer, allow_nan=False))


@pytest.mark.parametrize("name", ["loan_desk", "hostile_desk", "private_desk"])
@pytest.mark.parametrize("view", ["applicant", "auditor"])
def test_every_answer_is_plain_json(name: str, view: Any, request: pytest.FixtureRequest) -> None:
    desk: Desk = request.getfixturevalue(name)
    for answer in (desk.schema(view), desk.graph(view), desk.rows(limit=5, view=view)):
        assert plain(answer) == answer


def test_a_view_that_does_not_exist_is_refused(loan_desk: Desk) -> None:
    with pytest.raises(RequestError, match="expected 'applicant' or 'auditor'") as caught:
        loan_desk.schema("manager")  # type: ignore[arg-type]
    assert caught.value.field == "view"


def test_an_explanation_is_made_and_told(loan_desk: Desk, rejected: int) -> None:
    request = {"row_ids": [rejected], "target": "approved"}
    assert loan_desk.check({**request, "vary": None}) == request
    reports: list[dict[str, Any]] = []
    finished = loan_desk.explain(request, reports.append)
    assert finished["summary"]["n_rows"] == 1
    assert {"stage", "generation", "best_probability"} <= reports[0].keys()
    assert plain(reports) == reports
    ways = loan_desk.ways(finished["results"]["auditor"], request, 0, "auditor")
    assert plain(ways) == ways
    assert ways["id"] == f"C{rejected}"
    assert ways["ways"][0]["lines"][0]["kind"] == "action"
