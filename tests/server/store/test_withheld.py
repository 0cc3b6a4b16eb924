"""A record as an applicant may see it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from proce.server.store import Record, for_applicant


def record(error: str | None = None, **request: Any) -> Record:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    return Record("0", "done", now, now, now, request, {}, {}, error, "auditor", "1")


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


def test_words_that_name_a_protected_feature_are_replaced() -> None:
    told = for_applicant(record(error="feature 'sex': unknown level 'x'"), ["sex"])
    assert "sex" not in str(told.error)
    harmless = record(error="the worker died")
    assert for_applicant(harmless, ["sex"]) == harmless


def test_the_record_itself_is_not_changed() -> None:
    kept = record(rows=[{"sex": "f"}])
    before = replace(kept, request={"rows": [{"sex": "f"}]})
    for_applicant(kept, ["sex"])
    assert kept == before
    assert for_applicant(kept, []) is kept
