"""Results that were read from their text; the last few are kept, as somebody looks again."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from proce.explanation.exchange.explanations_json import from_json
from proce.explanation.record.rows import ExplainedFrame, ExplainedRow
from proce.explanation.record.view import View, check_view, frame_for_applicant
from proce.explanation.words.values import one_line
from proce.schema.frames.cells import is_missing
from proce.server.desk.asked.requests import ROW
from proce.server.desk.errors import RequestError
from proce.server.desk.kept import Kept

_MAX_KEPT = 16
_MAX_KEPT_CHARACTERS = 64_000_000  # of the texts of all results that are kept
_MAX_REPORTS = 8
_MAX_REPORT_CHARACTERS = 16_000_000
_Key = tuple[bytes, View]


class Results:
    """Reads results, each once as long as it is kept, and keeps the reports on them."""

    def __init__(self) -> None:
        self._read: Kept[_Key, ExplainedFrame] = Kept(_MAX_KEPT, _MAX_KEPT_CHARACTERS)
        self._reports: Kept[_Key, str] = Kept(_MAX_REPORTS, _MAX_REPORT_CHARACTERS)

    def read(self, text: str, view: View) -> ExplainedFrame:
        """Return the explanations of a text as a view shows them.

        Parameters
        ----------
        text
            The JSON text of explanations.
        view
            Who looks; a text that was written for an applicant has nothing more for an auditor.
        """
        return self._read.get(_key(text, view), lambda: _shown(text, view), len(text))

    def report(self, text: str, view: View, make: Callable[[ExplainedFrame], str]) -> str:
        """Return the report on the explanations of a text; its pictures take a moment to draw."""
        key = _key(text, view)
        return self._reports.get(key, lambda: make(self.read(text, view)), len(text))


def _key(text: str, view: View) -> _Key:
    check_view(view)
    return hashlib.blake2b(text.encode()).digest(), view


def _shown(text: str, view: View) -> ExplainedFrame:
    result = from_json(text)
    if view == "applicant" or result.context.withheld:
        return frame_for_applicant(result)
    context = replace(result.context, view=view)
    return replace(result, rows=replace(result.rows, context=context))


def row_at(result: ExplainedFrame, row: int) -> ExplainedRow:
    """Return a row of a result by its place in it."""
    if not 0 <= row < len(result):
        last = f"0 to {len(result) - 1}" if len(result) else "none"
        raise RequestError("row", f"there is no row {row}; the rows of this result are {last}.")
    return ExplainedRow(result.rows, row, result.layout)


def id_of(result: ExplainedFrame, row: ExplainedRow) -> str | None:
    """Return what a person knows a row by; ``None`` where it has no id."""
    index = _labels(result, row)
    return None if index is None or index.name in (None, ROW) else _text(index[0])


def row_id_of(request: Mapping[str, Any], index: int) -> int | None:
    """Return the position in the file of a row of a request; ``None`` where it is not from there.

    A row with values of its own is no longer that of the file.
    """
    row_ids = request.get("row_ids") or []
    return row_ids[index] if index < len(row_ids) and not request.get("values") else None


def label_of(result: ExplainedFrame, row: ExplainedRow) -> str:
    """Return what a row is called: its id, its place in the file, or its place in the request."""
    known = id_of(result, row)
    if known is not None:
        return one_line(known) or f"row {row.row}"
    index = _labels(result, row)
    if index is not None and index.name == ROW and (place := _text(index[0])) is not None:
        return f"row {place}"
    return f"row {row.row}" if len(result) > 1 else "this row"


def _labels(result: ExplainedFrame, row: ExplainedRow) -> Any:
    return result.layout.take([row.row]).index


def _text(label: object) -> str | None:
    return None if is_missing(label) else str(label)
