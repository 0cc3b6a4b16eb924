"""What the reader of a result is shown: the applicant's view, or the auditor's."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, TypeVar

from proce.arguments import checked
from proce.errors import SearchError
from proce.explanation.record.context import Context
from proce.explanation.record.frame import ExplainedFrame
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.record.view import (
    View,
    check_view,
    frame_for_applicant,
    protected_names,
    rows_for_applicant,
)

By = TypeVar("By", bound="str | Sequence[Any] | None")


class ShownFrame(ExplainedFrame):
    """An explained frame that knows who reads it."""

    @checked(SearchError)
    def seen_by(self, view: View) -> Self:
        """Return the same result as somebody sees it.

        An ``applicant``, which is the default, is shown no protected feature: in no sentence,
        table, picture, page or JSON. An ``auditor`` is shown everything. The rows themselves
        (``to_frame``, ``counterfactuals``, ``best``) are for the model, and whole in both views.

        Parameters
        ----------
        view
            ``"applicant"`` or ``"auditor"``.
        """
        _require_view(self.context, view)
        context = replace(self.context, view=view)
        return replace(self, rows=replace(self.rows, context=context))

    def _shown(self, view: View | None = None) -> ExplainedFrame:
        """Return what is shown to the reader; ``None`` for the view of this result."""
        view = self.context.view if view is None else view
        _require_view(self.context, view)
        rows = replace(self.rows, context=replace(self.context, view=view))
        whole = ExplainedFrame(rows, self.layout, self.provenance)
        return whole if view == "auditor" else frame_for_applicant(whole)

    def _told_codes(
        self, codes: Mapping[str, tuple[str, str]] | None
    ) -> Mapping[str, tuple[str, str]] | None:
        """Return a table of reason codes without those of protected features."""
        hidden = protected_names(self.context.codec.schema)
        if not hidden or not isinstance(codes, Mapping):
            return codes
        return {name: code for name, code in codes.items() if name not in hidden}

    def _grouping(self, by: By, view: View | None = None) -> By:
        """Return by what groups are made, unless the reader may not see it."""
        view = self.context.view if view is None else view
        hidden = protected_names(self.context.codec.schema) if view == "applicant" else ()
        if isinstance(by, str) and by in hidden:
            raise SearchError(
                f"by names {by!r}, which is protected: groups by it are for an auditor. Ask"
                " result.seen_by('auditor'), or write the page with view='auditor'."
            )
        return by


def shown_row(row: ExplainedRow, view: View | None = None) -> ExplainedRow:
    """Return a row as its reader is shown it; ``None`` for the view of its result."""
    view = row.context.view if view is None else view
    _require_view(row.context, view)
    record = replace(row.record, context=replace(row.context, view=view))
    shown = ExplainedRow(record, row.index, row.layout)
    if view == "auditor" or not protected_names(row.context.codec.schema):
        return shown
    return ExplainedRow(rows_for_applicant(shown.alone()), 0, row.layout)


def require_whole(context: Context) -> None:
    """Refuse a result from which protected features were taken out, for what needs whole rows."""
    if context.withheld:
        raise SearchError(
            "a receipt holds the whole row, and this result was written without its protected"
            " features; write the receipt from the explanations themselves."
        )


def _require_view(context: Context, view: str) -> None:
    check_view(view)
    if view == "auditor" and context.withheld:
        raise SearchError(
            "this result was written for the applicant, without its protected features; for the"
            " auditor's view write it again from the explanations, with to_json(view='auditor') or"
            " 'proce explain --view auditor'."
        )
