"""The rows of a file are browsed by page: filtered by a rule and by the decision, and sorted."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from proce.errors import FileError, SchemaError
from proce.server.explainer_api.api import ExplainerApi
from proce.server.explainer_api.errors import RequestError
from proce.server.explainer_api.handlers import rows as file_rows


@pytest.fixture(scope="module")
def file(loan_rows: Path) -> pd.DataFrame:
    return pd.read_csv(loan_rows)


def test_rows_come_as_they_stand_in_the_file(loan_api: ExplainerApi, file: pd.DataFrame) -> None:
    page = loan_api.rows(offset=10, limit=3, view="auditor")
    assert page["total"] == len(file) == 60
    assert [row["row"] for row in page["rows"]] == [10, 11, 12]
    assert [row["id"] for row in page["rows"]] == ["C10", "C11", "C12"]
    first = page["rows"][0]["values"]
    assert first == file.drop(columns="customer").iloc[10].to_dict()
    assert isinstance(first["age"], int)


def test_decisions_are_those_of_the_model(loan_api: ExplainerApi, file: pd.DataFrame) -> None:
    model = loan_api._fitted.classifier
    rows = loan_api.rows(limit=60)["rows"]
    for row in rows[:5]:
        decision = loan_api.what_if(row_id=row["row"])["before"]
        assert row["prediction"] == decision["prediction"]
        by_class = {own["value"]: own["probability"] for own in decision["probabilities"]}
        assert row["probability"] == pytest.approx(by_class[row["prediction"]], abs=1e-12)
    assert {row["prediction"] for row in rows} == set(model.classes)


def test_rows_are_filtered_by_a_rule_and_by_the_decision(
    loan_api: ExplainerApi, file: pd.DataFrame
) -> None:
    page = loan_api.rows(where="x.age >= 40 and x.housing == 'rents'", limit=60)
    expected = file[(file["age"] >= 40) & (file["housing"] == "rents")]
    assert [row["row"] for row in page["rows"]] == expected.index.tolist()
    rejected = loan_api.rows(where="x.age >= 40", prediction="rejected", limit=60)
    assert {row["prediction"] for row in rejected["rows"]} == {"rejected"}
    assert rejected["total"] == len(rejected["rows"]) > 0
    assert loan_api.rows(where="  ")["total"] == 60  # nothing is asked


def test_rows_are_sorted_and_the_total_does_not_depend_on_the_page(
    loan_api: ExplainerApi, file: pd.DataFrame
) -> None:
    page = loan_api.rows(sort="income", descending=True, limit=4, offset=2)
    incomes = [row["values"]["income"] for row in page["rows"]]
    assert incomes == sorted(file["income"], reverse=True)[2:6]
    sure = loan_api.rows(sort="probability", limit=60)["rows"]
    chances = [row["probability"] for row in sure]
    assert chances == sorted(chances)
    assert loan_api.rows(offset=1_000)["rows"] == []


def test_ordinal_levels_sort_by_their_order(loan_api: ExplainerApi) -> None:
    levels = next(f["levels"] for f in loan_api.schema()["features"] if f["name"] == "education")
    order = [level["value"] for level in levels]
    shown = [r["values"]["education"] for r in loan_api.rows(sort="education", limit=60)["rows"]]
    assert shown == sorted(shown, key=order.index)


def test_missing_cells_are_null_come_last_and_are_found_by_no_comparison(
    private_api: ExplainerApi,
) -> None:
    for descending in (False, True):
        rows = private_api.rows(sort="tests", descending=descending, limit=40)["rows"]
        tests = [row["values"]["tests"] for row in rows]
        known = [value for value in tests if value is not None]
        assert tests == sorted(known, reverse=descending) + [None] * (len(tests) - len(known))
    assert None in tests
    few = private_api.rows(where="x.tests < 10", limit=40)["rows"]
    many = private_api.rows(where="not x.tests < 10", limit=40)["rows"]
    assert len(few) + len(many) == len(known)
    either = private_api.rows(where="x.tests < 10 or x.study >= 0", limit=40)
    assert either["total"] == 40  # where something else decides, nothing is missing


def test_classes_that_are_numbers_are_asked_for_in_text(private_api: ExplainerApi) -> None:
    both = [private_api.rows(prediction=value)["total"] for value in ("0", "1")]
    assert sum(both) == 40
    assert private_api.rows(prediction=1)["total"] == both[1]
    flags = [row["values"]["member"] for row in private_api.rows()["rows"]]
    assert set(flags) == {True, False}


@pytest.mark.parametrize(
    ("options", "field", "words"),
    [
        ({"where": "x.age >"}, "where", "position"),
        ({"where": "cf.age > 3"}, "where", "over x alone"),
        ({"where": "age, job ~> income"}, "where", "over x alone"),
        ({"where": "x.agee > 3"}, "where", "Did you mean 'age'"),
        ({"where": "(" * 100_000}, "where", "too long"),
        ({"where": "not " * 400 + "x.age > 3"}, "where", "deep"),
        ({"sort": "salary"}, "sort", "no feature 'salary'"),
        ({"prediction": "maybe"}, "prediction", "no class"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_the_field(
    loan_api: ExplainerApi, options: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(RequestError, match=words) as caught:
        loan_api.rows(**options)
    assert caught.value.field == field
    assert len(caught.value.message) < 1_000


def test_without_a_file_there_are_no_rows(loan_folder: Path) -> None:
    api = ExplainerApi.open(loan_folder)
    assert api.rows() == {"total": 0, "rows": []}
    assert api.title == "loan"
    with pytest.raises(RequestError, match="no file of rows"):
        api.what_if(row_id=0)


def test_a_row_that_lacks_what_none_lacked_is_shown_and_not_decided(
    loan_folder: Path, loan_rows: Path, tmp_path: Path
) -> None:
    frame = pd.read_csv(loan_rows).astype({"income": object}).head(5)
    frame.loc[2, "income"] = None
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    api = ExplainerApi.open(loan_folder, tmp_path / "gaps.csv")
    rows = api.rows(sort="probability")["rows"]
    assert [row["row"] for row in rows][-1] == 2
    assert (rows[-1]["prediction"], rows[-1]["probability"]) == (None, None)
    assert rows[-1]["values"]["income"] is None
    with pytest.raises(RequestError, match="the row lacks 'income', which no row did") as caught:
        api.check({"row_ids": [1, 2]})
    assert caught.value.field == "row_ids[1]"
    whole = {"row_ids": [2], "values": {"income": 50_000}}
    assert api.check(whole) == whole
    assert api.what_if(row_id=2, row={"income": 50_000})["before"]["probability"] > 0


def test_a_file_that_does_not_fit_is_refused_at_once(
    loan_folder: Path, loan_rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = pd.read_csv(loan_rows)
    wrong.loc[7, "housing"] = "castle"
    wrong.to_csv(tmp_path / "wrong.csv", index=False)
    with pytest.raises(SchemaError, match=r"row 7 .* unknown level 'castle'"):
        ExplainerApi.open(loan_folder, tmp_path / "wrong.csv")
    with pytest.raises(FileError, match="lacks the column 'number'"):
        ExplainerApi.open(loan_folder, loan_rows, "number")
    monkeypatch.setattr(file_rows, "MAX_CELLS", 600)
    with pytest.raises(FileError, match="60 rows of 12 features; at most 50 such rows"):
        ExplainerApi.open(loan_folder, loan_rows)
