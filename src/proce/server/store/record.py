"""What the store gives back: records without their results, pages of them, saved views."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal, Self

from proce.schema.redaction import Redaction

Status = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
UNFINISHED: tuple[Status, ...] = ("queued", "running")
_WITHHELD_ERROR = "the explanation failed. An auditor's view of this record says why."
ENDED: tuple[Status, ...] = ("done", "failed", "cancelled", "interrupted")


@dataclass(frozen=True)
class Record:
    """One explanation that was asked for, without its result.

    Attributes
    ----------
    id
        32 hexadecimal digits that nobody can guess.
    status
        ``queued``, ``running``, ``done``, ``failed``, ``cancelled`` or ``interrupted``.
    created, started, finished
        Times in UTC.
    request
        What was asked for.
    summary
        How many rows were explained, found and so on; of a record that is done.
    provenance
        What the result depends on: model, data, settings.
    error
        Why it failed, in words.
    role
        Who asked: ``applicant`` or ``auditor``.
    version
        The version of ProCE that wrote the record.
    """

    id: str
    status: Status
    created: datetime
    started: datetime | None
    finished: datetime | None
    request: dict[str, Any]
    summary: dict[str, Any] | None
    provenance: dict[str, Any] | None
    error: str | None
    role: str
    version: str

    @property
    def ended(self) -> bool:
        """Whether the record can no longer change."""
        return self.status in ENDED

    def redacted(self, redaction: Redaction) -> Self:
        """Return the record as an applicant may see it; row numbers hold no values and stay.

        Why an auditor's explanation failed is not told: the words may speak of a protected feature
        in ways that no list of names has.
        """
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
    """Which records are meant; nothing given means all of them.

    Attributes
    ----------
    status
        Records of this status.
    since, until
        Records that were created at or after ``since`` and before ``until``; times with a zone.
    role
        Records that this role asked for.
    """

    status: Status | None = None
    since: datetime | None = None
    until: datetime | None = None
    role: str | None = None


ALL_RECORDS = RecordFilter()


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
