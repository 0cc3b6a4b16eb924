"""What the store takes and gives back, and JSON and text as every database takes them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal, Self

from proce.errors import StoreError
from proce.schema.redaction import Redaction

Status = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
UNFINISHED: tuple[Status, ...] = ("queued", "running")
_MAX_BRIEF_FIELD = 1_000  # characters of JSON
_MAX_WORDS = 10_000
_MAX_DAYS = 36_500
_WITHHELD_ERROR = "the explanation failed. An auditor's view of this record says why."
ENDED: tuple[Status, ...] = ("done", "failed", "cancelled", "interrupted")
INTERRUPTED = "the service stopped before this explanation was finished. Ask for it again."


@dataclass(frozen=True)
class Record:
    """One explanation that was asked for, without its result."""

    id: str  # 32 hexadecimal digits that nobody can guess
    status: Status
    created: datetime  # in UTC, as all times here
    started: datetime | None
    finished: datetime | None
    request: dict[str, Any]
    summary: dict[str, Any] | None
    provenance: dict[str, Any] | None  # what the result depends on: model, data, settings
    error: str | None  # why it failed, in words
    role: str  # who asked: ``applicant`` or ``auditor``
    version: str  # the version of ProCE that wrote the record

    @property
    def ended(self) -> bool:
        """Whether the record can no longer change."""
        return self.status in ENDED

    def redacted(self, redaction: Redaction) -> Self:
        """Return the record as an applicant may see it; row numbers hold no values and stay."""
        # Why an auditor's explanation failed is not told: the words may speak of a protected
        # feature in ways that no list of names has.
        if not redaction:
            return self
        error = self.error
        is_an_auditors = self.status == "failed" and self.role != "applicant"
        if error is not None and (is_an_auditors or redaction.in_error(error)):
            error = _WITHHELD_ERROR
        return replace(self, request=redaction.options(self.request), error=error)

    def as_json(self) -> dict[str, Any]:
        """Return the record as JSON-ready values, times in ISO 8601."""
        return {
            **vars(self),
            "created": time_text(self.created),
            "started": time_text(self.started),
            "finished": time_text(self.finished),
        }


@dataclass(frozen=True)
class Page:
    """A part of the log, the newest records first, and how many there are in all."""

    total: int
    records: list[Record]


@dataclass(frozen=True)
class RecordFilter:
    """Which records are meant; nothing given means all of them."""

    status: Status | None = None
    since: datetime | None = None
    until: datetime | None = None


ALL_RECORDS = RecordFilter()


@dataclass(frozen=True)
class Retention:
    """What is kept. Records that have not ended are always kept."""

    days: float | None = None
    records: int | None = None  # at most so many ended records are kept, the newest; None keeps all
    views: int = 100_000  # at most so many saved views are kept, the newest

    def __post_init__(self) -> None:
        if self.days is not None and not 0 < self.days <= _MAX_DAYS:
            raise StoreError(f"retention of {self.days} days: expected more than 0, at most 36500.")
        if self.records is not None and self.records < 1:
            raise StoreError(f"retention of {self.records} records: expected at least 1.")
        if self.views < 1:
            raise StoreError(f"retention of {self.views} views: expected at least 1.")


@dataclass(frozen=True)
class SavedView:
    """A state of the page that a link restores, and the role that saved it."""

    state: dict[str, Any]
    role: str


def time_text(time: datetime | None) -> str | None:
    """Return a time in UTC as ISO 8601 text that ends with Z."""
    if time is None:
        return None
    return time.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def to_text(value: Any) -> str:
    """Return a JSON value as text in ASCII: lone surrogates and NUL are escapes there."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def brief(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request without its long fields, such as thousands of rows."""
    return {
        name: value for name, value in request.items() if len(to_text(value)) <= _MAX_BRIEF_FIELD
    }


def plain(words: str) -> str:
    """Return words without what a database refuses: NUL, and halves of a character."""
    return words[:_MAX_WORDS].replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def plain_json(text: str) -> str:
    """Return JSON text whose lone surrogates are escaped; the same value in valid Unicode."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
