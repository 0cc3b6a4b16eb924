"""A result as an overview of many rows, as a report, as letters and as csv."""

import csv
import io
from typing import Any

import pytest

from proce.server.explainer_api.api import ExplainerApi
from proce.server.explainer_api.errors import RequestError
from proce.server.explainer_api.lru_cache import LruCache


@pytest.fixture(scope="module")
def asked(loan_api: ExplainerApi) -> dict[str, Any]:
    rejected = loan_api.rows(prediction="rejected", limit=4)["rows"]
    approved = loan_api.rows(prediction="approved", limit=1)["rows"]
    return {"row_ids": [row["row"] for row in [*rejected, *approved]], "target": "approved"}


@pytest.fixture(scope="module")
def document(loan_api: ExplainerApi, asked: dict[str, Any]) -> str:
    text: str = loan_api.explain(asked)["results"]["auditor"]
    return text


def test_a_cohort_counts_outcomes_changes_and_costs(
    loan_api: ExplainerApi, asked: dict[str, Any], document: str
) -> None:
    cohort = loan_api.cohort(document, asked, "housing", "auditor")
    assert cohort["n_rows"] == 5
    assert sum(cohort["outcomes"].values()) == 5
    assert cohort["outcomes"]["already_target"] == 1
    found = [row for row in cohort["rows"] if row["outcome"] == "found"]
    for tally in cohort["features"]:
        assert tally["share"] == pytest.approx(tally["count"] / len(found))
        assert tally["kind"] in ("action", "hold", "wait", "consequence")
    assert [row["row"] for row in cohort["rows"]] == asked["row_ids"]
    assert [row["index"] for row in cohort["rows"]] == list(range(5))
    assert [row["id"] for row in cohort["rows"]] == [f"C{row}" for row in asked["row_ids"]]
    for row in found:
        assert row["new_probability"] > row["probability"]
        assert row["actions"].endswith(".")
    assert cohort["rows"][-1]["new_probability"] is None
    groups = cohort["groups"]
    assert sum(group["n_rows"] for group in groups) == 4  # one has the target already
    assert sum(group["found"] for group in groups) == len(found)
    for group in groups:
        if group["found"] == 1:
            assert group["median_distance"] == group["mean_distance"]
            assert group["mean_actions"] >= 1
    assert loan_api.cohort(document, asked)["groups"] == []


def test_each_row_of_a_cohort_leads_to_its_ways(
    loan_api: ExplainerApi, asked: dict[str, Any], document: str
) -> None:
    for row in loan_api.cohort(document, asked)["rows"]:
        ways = loan_api.ways(document, asked, row["index"])
        assert (ways["row_id"], ways["id"]) == (row["row"], row["id"])
        assert ways["outcome"] == row["outcome"]
        if ways["ways"]:
            assert ways["ways"][0]["distance"] == row["distance"]


def test_groups_by_what_is_no_feature_are_refused(
    loan_api: ExplainerApi, asked: dict[str, Any], document: str
) -> None:
    with pytest.raises(RequestError, match="Did you mean 'housing'") as caught:
        loan_api.cohort(document, asked, "housin")
    assert caught.value.field == "by"


def test_csv_has_every_counterfactual_with_its_id(
    loan_api: ExplainerApi, asked: dict[str, Any], document: str
) -> None:
    lines = list(csv.DictReader(io.StringIO(loan_api.csv(document))))
    ways = [loan_api.ways(document, asked, row)["ways"] for row in range(5)]
    assert len(lines) == sum(map(len, ways))
    assert list(lines[0])[:3] == ["customer", "row", "rank"]
    assert lines[0]["customer"] == f"C{asked['row_ids'][0]}"
    assert "sex" not in lines[0]
    assert "sex" in next(csv.DictReader(io.StringIO(loan_api.csv(document, "auditor"))))


def test_no_cell_of_csv_is_a_formula(
    loan_api: ExplainerApi, asked: dict[str, Any], document: str
) -> None:
    job = next(csv.DictReader(io.StringIO(loan_api.csv(document))))["job"]
    record = document.replace(f'"C{asked["row_ids"][0]}"', '"=HYPERLINK(1)"')
    record = record.replace('"customer"', '"@customer"').replace(f'"{job}"', '"-2+3"')
    first = next(csv.DictReader(io.StringIO(loan_api.csv(record))))
    assert first["'@customer"] == "'=HYPERLINK(1)"
    assert first["job"] == "'-2+3"
    assert first["row"] == "0"


def test_a_letter_is_a_draft_about_one_row_or_all(
    loan_api: ExplainerApi, asked: dict[str, Any], document: str
) -> None:
    one = loan_api.letter(document, row=0)
    assert one.startswith(
        "Draft: a variant that the model decides otherwise is not by itself a legal reason."
    )
    every = loan_api.letter(document)
    assert one in every
    assert every.count("Draft: ") == 5
    assert every.startswith(f"C{asked['row_ids'][0]}\n\n")
    with pytest.raises(RequestError, match="there is no row 5"):
        loan_api.letter(document, row=5)


def test_a_report_is_drawn_once(
    loan_api: ExplainerApi, asked: dict[str, Any], document: str
) -> None:
    page = loan_api.report(document)
    assert page.count("<article") == 5
    assert "<h2>All rows</h2>" in page
    assert loan_api.report(document) is page


def test_only_the_last_few_are_kept() -> None:
    made: list[int] = []
    kept: LruCache[int, int] = LruCache(2, max_size=10)

    def value(key: int, size: int = 1) -> int:
        return kept.get(key, lambda: made.append(key) or -key, size)

    assert [value(key) for key in (1, 2, 1, 3, 1, 2)] == [-1, -2, -1, -3, -1, -2]
    assert made == [1, 2, 3, 2]  # 2 went when 3 came: 1 was asked for since
    value(4, size=11)
    assert len(kept) == 1  # it is kept although it is too large, and alone
