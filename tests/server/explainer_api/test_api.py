"""A api answers every question about an explainer with plain values of JSON."""

import json
from typing import Any

import pytest

from proce.server.explainer_api.api import ExplainerApi
from proce.server.explainer_api.errors import RequestError


def plain(answer: Any) -> Any:
    """Return an answer after a trip through JSON, which refuses NaN and what is no plain value."""
    return json.loads(json.dumps(answer, allow_nan=False))


@pytest.mark.parametrize("name", ["loan_api", "hostile_api", "private_api"])
@pytest.mark.parametrize("view", ["applicant", "auditor"])
def test_every_answer_is_plain_json(name: str, view: Any, request: pytest.FixtureRequest) -> None:
    api: ExplainerApi = request.getfixturevalue(name)
    for answer in (api.schema(view), api.graph(view), api.rows(limit=5, view=view)):
        assert plain(answer) == answer


def test_a_view_that_does_not_exist_is_refused(loan_api: ExplainerApi) -> None:
    with pytest.raises(RequestError, match="expected 'applicant' or 'auditor'") as caught:
        loan_api.schema("manager")  # type: ignore[arg-type]
    assert caught.value.field == "view"


def test_an_explanation_is_made_and_told(loan_api: ExplainerApi, rejected: int) -> None:
    request = {"row_ids": [rejected], "target": "approved"}
    assert loan_api.check({**request, "vary": None}) == request
    reports: list[dict[str, Any]] = []
    finished = loan_api.explain(request, reports.append)
    assert finished["summary"]["n_rows"] == 1
    assert {"stage", "generation", "best_probability"} <= reports[0].keys()
    assert plain(reports) == reports
    ways = loan_api.ways(finished["results"]["auditor"], request, 0, "auditor")
    assert plain(ways) == ways
    assert ways["id"] == f"C{rejected}"
    assert ways["ways"][0]["lines"][0]["kind"] == "action"
