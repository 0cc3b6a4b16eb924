"""Explanations in a notebook: a table with the changes marked, without scripts.

Weight, sign and word mark a change, never colour alone; the colours are those of the notebook,
light or dark.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from proce.explanation.html.blocks import render
from proce.explanation.record.counterfactuals import Outcome
from proce.explanation.record.rows import ExplainedFrame, ExplainedRow, ExplainedRows
from proce.explanation.row_view import RowView, WayView, row_views
from proce.explanation.words.decision import OUTCOME_WORDS
from proce.explanation.words.sentences import Line
from proce.explanation.words.values import name_text
from proce.schema import Layout
from proce.schema.features.numerals import counted

_MAX_ROWS = 20
_MAX_FEATURES = 12  # of more features, only those that change are shown


@dataclass(frozen=True, slots=True)
class NotebookCell:
    """The value of a feature, and what became of it: none, action, hold or consequence."""

    kind: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class NotebookRow:
    """A way of a row; a row without one has a reason instead of a rank."""

    view: RowView
    way: WayView | None
    cells: Sequence[NotebookCell]


@dataclass(frozen=True, slots=True)
class NotebookView:
    """What a notebook shows of explanations; the marks are the kinds of changes to explain."""

    sentences: Sequence[Line]
    features: list[str]
    recommended: Sequence[NotebookRow]
    alternatives: Sequence[NotebookRow]
    marks: Sequence[str]
    n_hidden_rows: int
    n_hidden_features: int


def html_of_rows(explanations: ExplainedFrame) -> str:
    """Return a table of the recommended counterfactuals; alternatives are folded away."""
    return _html(explanations.rows, explanations.layout)


def html_of_row(explanation: ExplainedRow) -> str:
    """Return the sentences of one explanation, then its table."""
    return _html(explanation.alone(), explanation.layout)


def _html(rows: ExplainedRows, layout: Layout | None) -> str:
    views = row_views(rows.head(_MAX_ROWS), layout)
    sentences = _lines(views[0]) if len(rows) == 1 else [Line("summary", _summary(rows))]
    features = rows.context.codec.schema.features if len(rows) else ()
    positions = _shown_positions(len(features), views)
    marks = {s.change.cell.kind for view in views for way in view.ways for s in way.steps}
    record = NotebookView(
        sentences,
        [name_text(features[position]) for position in positions],
        # Of one row without a way the sentences say it.
        [_row(view, view.recommended, positions) for view in views if view.ways or len(rows) > 1],
        [_row(view, way, positions) for view in views for way in view.ways[1:]],
        [kind.name.lower() for kind in sorted(marks)],
        n_hidden_rows=len(rows) - len(views),
        n_hidden_features=len(features) - len(positions),
    )
    return render("notebook.html", record)


def _lines(view: RowView) -> list[Line]:
    """Return the sentences of a row; that there are other ways is seen, as they are folded."""
    others_are_shown = view.row.outcome is Outcome.FOUND
    return [line for line in view.lines if line.kind != "search" or not others_are_shown]


def _summary(rows: ExplainedRows) -> str:
    counts = rows.outcome_counts()
    parts = [
        f"{counts[outcome]:,} {OUTCOME_WORDS[outcome]}" for outcome in Outcome if counts[outcome]
    ]
    return f"{counted(len(rows), 'row')}: {', '.join(parts) or 'none'}."


def _shown_positions(n_features: int, views: Sequence[RowView]) -> list[int]:
    """Return which features are shown: those that change before, then, unless many, all others."""
    ways = [way for view in views for way in view.ways]
    recommended = {s.change.cell.position for way in ways if way.rank == 1 for s in way.steps}
    changed = {step.change.cell.position for way in ways for step in way.steps}
    unchanged = set(range(n_features)) - changed if n_features <= _MAX_FEATURES else set()
    return sorted(recommended) + sorted(changed - recommended) + sorted(unchanged)


def _row(view: RowView, way: WayView | None, positions: Sequence[int]) -> NotebookRow:
    if way is None:
        return NotebookRow(view, None, ())
    changes = {step.change.cell.position: step.change for step in way.steps}
    cells = []
    for position in positions:
        kind, before = "none", view.values[position].text
        after = before
        if position in changes:
            change = changes[position]
            kind, before, after = change.mark, change.before, change.after
        cells.append(NotebookCell(kind, _unquoted(before), _unquoted(after)))
    return NotebookRow(view, way, cells)


def _unquoted(text: str) -> str:
    """Return a level without its quotes: a cell of a table needs none."""
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] == '"' else text
