"""A result as files: the report, the draft of a letter, and the counterfactuals as csv."""

import io

from proce.explanation.html.page import page_of_rows
from proce.explanation.record.rows import ExplainedFrame
from proce.explanation.record.view import frame_for_applicant
from proce.explanation.tables.frames import to_frame
from proce.explanation.tables.reasons import reasons_of
from proce.files import plain_cell
from proce.server.desk.told.results import label_of, row_at

MAX_LETTERS = 100  # drafts in one text
_RULE = "\n" + "-" * 72 + "\n\n"


def report_of(result: ExplainedFrame) -> str:
    """Return the report of a result: one HTML page that needs nothing else.

    Of many rows only the first has pictures, each of which takes a quarter of a second.
    """
    return page_of_rows(result, max_drawn=1)


def letter_of(result: ExplainedFrame, row: int | None = None) -> str:
    """Return the draft of a letter about a row, or drafts about the first hundred rows.

    No letter speaks of a protected feature, whoever asks for it.
    """
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
    """Return all counterfactuals of a result as csv, each with its row and its rank in front.

    Texts that a spreadsheet would take for a formula begin with a quote.
    """
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
