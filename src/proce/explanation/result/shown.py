"""What the reader of a result is shown: the applicant's view, or the auditor's."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from proce.errors import SearchError
from proce.explanation.record.context import Context
from proce.explanation.record.rows import ExplainedFrame, ExplainedRow, ExplainedRows
from proce.explanation.record.view import (
    View,
    check_view,
    frame_for_applicant,
    protected_names,
    rows_for_applicant,
)

By = TypeVar("By", bound="str | Sequence[Any] | None")
Codes = Mapping[str, tuple[str, str]]


def in_view(rows: ExplainedRows, view: View | None) -> ExplainedRows:
    """Return whole rows whose reader is named; ``None`` for the one that they have."""
    context = rows.context
    view = context.view if view is None else view
    check_view(view)
    if view == "auditor" and context.withheld:
        raise SearchError(
            "this result was written for the applicant, without its protected features; for the"
            " auditor's view write it again from the explanations, with to_json(view='auditor') or"
            " 'proce explain --view auditor'."
        )
    return replace(rows, context=replace(context, view=view))


def shown_frame(result: ExplainedFrame, view: View | None = None) -> ExplainedFrame:
    """Return what a reader is shown; ``None`` for the view of the result."""
    rows = in_view(result.rows, view)
    whole = ExplainedFrame(rows, result.layout, result.provenance)
    return whole if rows.context.view == "auditor" else frame_for_applicant(whole)


def shown_row(row: ExplainedRow, view: View | None = None) -> ExplainedRow:
    """Return a row as its reader is shown it; ``None`` for the view of its result."""
    record = in_view(row.record, view)
    shown = ExplainedRow(record, row.index, row.layout)
    if record.context.view == "auditor" or not protected_names(record.context.codec.schema):
        return shown
    return ExplainedRow(rows_for_applicant(shown.alone()), 0, row.layout)


def open_codes(context: Context, codes: Codes | None) -> Codes | None:
    """Return a table of reason codes without those of protected features."""
    hidden = protected_names(context.codec.schema)
    if not hidden or not isinstance(codes, Mapping):
        return codes
    return {name: code for name, code in codes.items() if name not in hidden}


def allowed_grouping(context: Context, by: By, view: View | None = None) -> By:
    """Return by what groups are made, unless the reader may not see it."""
    view = context.view if view is None else view
    hidden = protected_names(context.codec.schema) if view == "applicant" else ()
    if isinstance(by, str) and by in hidden:
        raise SearchError(
            f"by names {by!r}, which is protected: groups by it are for an auditor. Ask"
            " result.seen_by('auditor'), or write the page with view='auditor'."
        )
    return by


def require_whole(context: Context) -> None:
    """Refuse a result from which protected features were taken out, for what needs whole rows."""
    if context.withheld:
        raise SearchError(
            "a receipt holds the whole row, and this result was written without its protected"
            " features; write the receipt from the explanations themselves."
        )
