"""What is told of rows when all are done: gathered result by result, kept with each part."""

from collections import Counter
from dataclasses import dataclass, field

from proce.batch.tables import doubts, reasons, tally
from proce.explanation import Explanations
from proce.schema.records import StrictRecord

MAX_REASONS = 3  # rows without a counterfactual whose reason is told


class _SummaryRecord(StrictRecord):
    tally: dict[str, int]
    doubts: dict[str, int]
    reasons: list[str]


@dataclass(frozen=True)
class Summary:
    """How many rows ended how."""

    tally: Counter[str] = field(default_factory=Counter)  # how many rows have each outcome
    # for how many the recommended counterfactual is not robust, or unsure
    doubts: Counter[str] = field(default_factory=Counter)
    reasons: tuple[str, ...] = ()  # why the first rows that have no counterfactual have none

    @classmethod
    def of(cls, result: Explanations) -> "Summary":
        """Sum up the explanations of some rows."""
        return cls(tally(result), doubts(result), tuple(reasons(result, MAX_REASONS)))

    @classmethod
    def from_json(cls, text: str | bytes) -> "Summary":
        """Read a summary, or raise ``ValueError``."""
        record = _SummaryRecord.model_validate_json(text)
        return cls(Counter(record.tally), Counter(record.doubts), tuple(record.reasons))

    def to_json(self) -> str:
        """Return the summary as JSON text."""
        record = _SummaryRecord(
            tally=dict(self.tally), doubts=dict(self.doubts), reasons=list(self.reasons)
        )
        return record.model_dump_json()

    def __add__(self, later: "Summary") -> "Summary":
        return Summary(
            self.tally + later.tally,
            self.doubts + later.doubts,
            (self.reasons + later.reasons)[:MAX_REASONS],
        )
