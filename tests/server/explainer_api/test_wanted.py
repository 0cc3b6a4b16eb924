"""The class that people want, where the operator has named it."""

from pathlib import Path

import pytest

from proce.server.explainer_api import ExplainerApi, RequestError


@pytest.fixture(scope="module")
def wanting(loan_folder: Path, loan_rows: Path) -> ExplainerApi:
    return ExplainerApi.open(loan_folder, loan_rows, target="approved")


def test_the_page_is_told_which_class_is_wanted(
    wanting: ExplainerApi, loan_api: ExplainerApi
) -> None:
    assert wanting.schema()["default_target"] == "approved"
    assert loan_api.schema()["default_target"] is None


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
