"""An explainer answers every question with plain JSON, and knows which class is wanted."""

import json
from pathlib import Path
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


@pytest.fixture(scope="module")
def wanting(loan_folder: Path, loan_rows: Path) -> ExplainerApi:
    return ExplainerApi.open(loan_folder, loan_rows, target="approved")


def test_the_page_is_told_which_class_is_wanted(
    wanting: ExplainerApi, loan_api: ExplainerApi
) -> None:
    assert wanting.schema()["default_target"] == "approved"
    assert loan_api.schema()["default_target"] is None


def test_the_wanted_class_may_be_named_by_its_words_or_as_files_have_it(
    private_folder: Path,
) -> None:
    for target in ("ready", "1", "1.0", 1):
        assert ExplainerApi.open(private_folder, target=target).target == 1


def test_a_request_without_a_target_asks_for_it_and_is_kept_with_it(wanting: ExplainerApi) -> None:
    assert wanting.check({"row_ids": [0], "target": None, "n": 2}) == {
        "row_ids": [0],
        "target": "approved",
        "n": 2,
    }
    assert wanting.check({"row_ids": [0], "target": "rejected"})["target"] == "rejected"


def test_who_has_it_needs_no_change(wanting: ExplainerApi, loan_api: ExplainerApi) -> None:
    approved = loan_api.rows(prediction="approved", limit=1)["rows"][0]["row"]
    assert wanting.explain({"row_ids": [approved]})["summary"]["already_target"] == 1
    assert wanting.what_if(row_id=approved)["before"]["target"] == "approved"
    assert loan_api.what_if(row_id=approved)["before"]["target"] == "rejected"


def test_a_class_that_the_model_does_not_have_is_refused(loan_folder: Path) -> None:
    with pytest.raises(RequestError, match="'good' is no class of the model"):
        ExplainerApi.open(loan_folder, target="good")
