"""A record as an applicant may see it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from proce.server.store import Record, Status, for_applicant


def record(error: str | None = None, role: str = "applicant", **request: Any) -> Record:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    status: Status = "done" if error is None else "failed"
    return Record("0", status, now, now, now, request, {}, {}, error, role, "1")


def shown(**request: Any) -> dict[str, Any]:
    return for_applicant(record(**request), ["sex", "place of birth"]).request


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"rows": [{"age": 4, "sex": "f"}]}, {"rows": [{"age": 4}]}),
        ({"row_ids": [3], "values": {"sex": "m"}}, {"row_ids": [3], "values": {}}),
        ({"ranges": {"sex": [0, 1], "age": [1, 2]}}, {"ranges": {"age": [1, 2]}}),
        ({"effort": {"sex": 2}}, {"effort": {}}),
        ({"vary": ["sex", "age"]}, {"vary": ["age"]}),
        ({"rules": ["cf.Sex == x.sex", "cf.age > 3"]}, {"rules": ["cf.age > 3"]}),
        ({"rules": ['cf["place of birth"] != "a"']}, {"rules": []}),
        (
            {"graph": {"edges": [["sex", "age"], ["age", "job"]]}},
            {"graph": {"edges": [["age", "job"]]}},
        ),
        ({"graph": {"dagitty": "dag { sex -> age }"}}, {"graph": None}),
        (
            {"graph": {"dagitty": "dag { age -> job }"}},
            {"graph": {"dagitty": "dag { age -> job }"}},
        ),
        ({"graph": None, "rows": None, "n": 2}, {"graph": None, "rows": None, "n": 2}),
    ],
)
def test_nothing_of_the_request_names_a_protected_feature(
    request_: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert shown(**request_) == expected


@pytest.mark.parametrize(
    "error",
    ["feature 'sex': unknown level 'x'", "SEX is missing", "no level of Gender", "place of birth"],
)
def test_words_that_name_a_protected_feature_are_replaced(error: str) -> None:
    told = for_applicant(record(error=error), ["sex", "Gender", "place_of_birth"])
    assert told.error == "the explanation failed. An auditor's view of this record says why."


def test_other_words_are_told_to_who_asked_and_an_auditors_to_nobody_else() -> None:
    own = record(error="the worker died")
    assert for_applicant(own, ["sex"]) == own
    told = for_applicant(record(error="'female' is no level", role="auditor"), ["sex"])
    assert "female" not in str(told.error)


@pytest.mark.parametrize("name", ['a"b', "a\\b"])
def test_a_name_is_known_where_its_signs_are_escaped(name: str) -> None:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    request = {"rules": [f'cf["{escaped}"] > 1'], "graph": {"dagitty": f'dag {{ "{escaped}" }}'}}
    assert for_applicant(record(**request), [name]).request == {"rules": [], "graph": None}
    assert shown(graph={"dagitty": 'dag { "se\\x" -> age }'}) == {"graph": None}


def test_the_record_itself_is_not_changed() -> None:
    kept = record(rows=[{"sex": "f"}])
    before = replace(kept, request={"rows": [{"sex": "f"}]})
    for_applicant(kept, ["sex"])
    assert kept == before
    assert for_applicant(kept, []) is kept
