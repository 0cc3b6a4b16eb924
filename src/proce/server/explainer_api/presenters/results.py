"""Results: read from their text, the last few kept; named; and made into files."""

import hashlib
import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from proce.explanation.exchange.explanations_json import from_json
from proce.explanation.html.report import page_of_rows
from proce.explanation.record.rows import ExplainedFrame, ExplainedRow
from proce.explanation.record.view import View, frame_for_applicant
from proce.explanation.tables.frames import to_frame
from proce.explanation.tables.reasons import reasons_of
from proce.explanation.words.values import one_line
from proce.files import plain_cell
from proce.schema.frames.cells import is_missing
from proce.server.explainer_api.errors import RequestError
from proce.server.explainer_api.handlers.explaining import ROW
from proce.server.explainer_api.lru_cache import LruCache

_MAX_KEPT = 16
_MAX_KEPT_CHARACTERS = 64_000_000  # of the texts of all results that are kept
_MAX_REPORTS = 8
_MAX_REPORT_CHARACTERS = 16_000_000
_Key = tuple[bytes, View]
MAX_LETTERS = 100  # drafts in one text
_RULE = "\n" + "-" * 72 + "\n\n"


class Results:
    """Reads results, each once as long as it is kept, and keeps the reports on them."""

    def __init__(self) -> None:
        self._read: LruCache[_Key, ExplainedFrame] = LruCache(_MAX_KEPT, _MAX_KEPT_CHARACTERS)
        self._reports: LruCache[_Key, str] = LruCache(_MAX_REPORTS, _MAX_REPORT_CHARACTERS)

    def read(self, text: str, view: View) -> ExplainedFrame:
        """Return the explanations of a text as a view shows them."""
        return self._read.get(_key(text, view), lambda: _shown(text, view), len(text))

    def report(self, text: str, view: View) -> str:
        """Return the report on the explanations of a text, as one HTML page."""
        # Each picture takes a quarter of a second: of many rows only the first has some.
        key = _key(text, view)
        return self._reports.get(
            key, lambda: page_of_rows(self.read(text, view), max_drawn=1), len(text)
        )


def _key(text: str, view: View) -> _Key:
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
    """Return the place in the file of a row; ``None`` where it has values of its own."""
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


def letter_of(result: ExplainedFrame, row: int | None = None) -> str:
    """Return the draft of a letter about a row, or drafts about the first hundred rows."""
    shown = frame_for_applicant(result)
    reasons = reasons_of(shown)
    if row is not None:
        return reasons.letter(row_at(shown, row).index)
    if len(shown) == 1:
        return reasons.letter(0)
    drafts = []
    for explained in list(shown.rows.head(MAX_LETTERS)):
        label = label_of(shown, explained)
        drafts.append(f"{label[:1].upper()}{label[1:]}\n\n{reasons.letter(explained.index)}")
    if len(shown) > MAX_LETTERS:
        drafts.append(f"And {len(shown) - MAX_LETTERS:,} more rows.\n")
    return _RULE.join(drafts)


def csv_of(result: ExplainedFrame) -> str:
    """Return all counterfactuals as csv, each with its row and its rank; no cell is a formula."""
    frame = to_frame(result)
    label = frame.index.name
    while label in frame.columns:
        label = f"_{label}"
    if label is not None:
        frame.insert(0, label, frame.index)
    texts = frame.select_dtypes(exclude="number")
    plain = frame.assign(**{name: texts[name].map(_plain, "ignore") for name in texts})
    text = io.StringIO()
    header = [plain_cell(name) for name in plain.columns]
    plain.to_csv(text, index=False, header=header, lineterminator="\n")
    return text.getvalue()


def _plain(value: object) -> object:
    return plain_cell(value) if isinstance(value, str) else value
