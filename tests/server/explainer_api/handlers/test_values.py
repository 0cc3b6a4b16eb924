"""A row is pasted as a line of csv, with or without its header, in any usual separator."""

import csv
import io
from typing import Any

import pytest

from proce.server.explainer_api.api import ExplainerApi
from proce.server.explainer_api.errors import RequestError


@pytest.fixture(scope="module")
def values(loan_api: ExplainerApi) -> dict[str, Any]:
    shown: dict[str, Any] = loan_api.rows(limit=1)["rows"][0]["values"]
    return shown


def line(cells: Any, separator: str) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerow(cells)
    return text.getvalue()


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("with_header", [True, False])
def test_a_line_is_read_back(
    loan_api: ExplainerApi, values: dict[str, Any], separator: str, with_header: bool
) -> None:
    text = line(values, separator) * with_header + line(values.values(), separator)
    assert loan_api.parse_row(text) == {"values": values, "notes": []}


def test_other_columns_and_further_lines_are_noted(
    loan_api: ExplainerApi, values: dict[str, Any]
) -> None:
    header, row = line(["customer", *values], ","), line(["C1", *values.values()], ",")
    parsed = loan_api.parse_row(header + row + row)
    assert parsed["values"] == values
    assert parsed["notes"] == [
        "Left out, as they are no features: 'customer'.",
        "Only the first of 2 lines was read.",
    ]


def test_missing_cells_are_read_where_they_may_miss(private_api: ExplainerApi) -> None:
    parsed = private_api.parse_row("3.5, 4.0, NA, true")
    assert parsed["values"] == {"study": 3.5, "skill": 4.0, "tests": None, "member": True}
    assert parsed["notes"] == ["Missing: 'tests'."]
    with pytest.raises(RequestError, match="'study' is missing"):
        private_api.parse_row(", 4.0, NA, true")


def test_hostile_cells_come_back_as_they_are(hostile_api: ExplainerApi) -> None:
    values = hostile_api.rows(limit=1)["rows"][0]["values"]
    text = line(values, ",") + line(values.values(), ",")
    assert hostile_api.parse_row(text)["values"] == values


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\n\n", "it is empty"),
        ("1,2,3", "the line has 3 cells; expected 11"),
        ("age,income", "the header lacks"),
        ("x" * 200_000, "200,000 characters"),
        ('"open,1', "cannot be read as csv"),
    ],
)
def test_what_is_no_row_is_refused(loan_api: ExplainerApi, text: str, words: str) -> None:
    with pytest.raises(RequestError, match=words) as caught:
        loan_api.parse_row(text)
    assert caught.value.field == "text"


def test_a_wrong_cell_is_named(loan_api: ExplainerApi, values: dict[str, Any]) -> None:
    wrong = {**values, "housing": "castle"}
    with pytest.raises(RequestError, match="'castle' is no level of 'housing'"):
        loan_api.parse_row(line(wrong.values(), ","))
    with pytest.raises(RequestError, match="'age' is a number; got 'old'"):
        loan_api.parse_row(line({**values, "age": "old"}.values(), ","))
    with pytest.raises(RequestError, match="'age' is a number; got '４１'"):
        loan_api.parse_row(line({**values, "age": "４１"}.values(), ","))
    with pytest.raises(RequestError, match="the line has 10 cells, where the header has 11"):
        loan_api.parse_row(line(values, ",") + line(list(values.values())[:-1], ","))
