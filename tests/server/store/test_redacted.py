"""A record as an applicant may see it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from proce.schema import Redaction
from proce.server.store import Record, Status

REDACTION = Redaction({"age": ["years of life"], "sex": []}, ["female"])


def record(error: str | None = None, role: str = "applicant", **request: Any) -> Record:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    status: Status = "done" if error is None else "failed"
    return Record("0", status, now, now, now, request, {}, {}, error, role, "1")


def test_a_request_has_nothing_protected_and_the_record_itself_is_not_changed() -> None:
    kept = record(rows=[{"sex": "f", "wage": 3}], rules=["cf.wage >= x.wage", "cf.age > 3"], n=2)
    shown = kept.redacted(REDACTION)
    assert shown.request == {"rows": [{"wage": 3}], "rules": ["cf.wage >= x.wage"], "n": 2}
    assert kept.request["rows"] == [{"sex": "f", "wage": 3}]
    assert kept.redacted(Redaction({})) is kept


@pytest.mark.parametrize(
    ("error", "role", "is_told"),
    [
        ("the worker died", "applicant", True),
        ("feature 'wage': expected a number", "applicant", True),
        ("feature 'age': expected a number", "applicant", False),
        ("the Years of life are missing", "applicant", False),
        ("'female' is no level", "applicant", False),
        ("the worker died", "auditor", False),
    ],
)
def test_an_error_is_told_unless_it_names_what_is_protected(
    error: str, role: str, is_told: bool
) -> None:
    told = record(error, role).redacted(REDACTION).error
    withheld = "the explanation failed. An auditor's view of this record says why."
    assert told == (error if is_told else withheld)
