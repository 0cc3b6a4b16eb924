"""Explanations in a notebook: a table with the changes marked, without scripts.

Weight, sign and word mark a change, never colour alone; the colours are those of the notebook,
light or dark.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from proce.explanation.html.environment import render
from proce.explanation.html.labels import OUTCOME_WORDS, row_label
from proce.explanation.record.outcome import Outcome
from proce.explanation.record.rows import ExplainedFrame, ExplainedRow, ExplainedRows
from proce.explanation.words.cells import ChangedCell, ranked_cells
from proce.explanation.words.chances import then_and_now
from proce.explanation.words.sentences import Line, lines
from proce.explanation.words.values import cell_texts, class_texts, name_text, value_text
from proce.schema import Layout
from proce.schema.features.numerals import counted

_MAX_ROWS = 20
_MAX_FEATURES = 12  # of more features, only those that change are shown


@dataclass(frozen=True, slots=True)
class NotebookCell:
    """The value of a feature, and what became of it.

    Attributes
    ----------
    kind
        ``none``, ``action``, ``hold`` or ``consequence``.
    before, after
        The value of the row, and of the counterfactual.
    """

    kind: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class NotebookRow:
    """A counterfactual, or a row without one.

    Attributes
    ----------
    label
        The label of the explained row.
    rank
        The rank of the counterfactual; ``None`` without one.
    predicted, target
        The class that the model says, and the class that was asked for.
    chances
        The probability of the target before and after; empty without a counterfactual.
    cells
        The values of the features shown; empty without a counterfactual.
    reason
        Why there is no counterfactual; empty where there is one.
    """

    label: str
    rank: int | None
    predicted: str
    target: str
    chances: tuple[str, ...]
    cells: Sequence[NotebookCell]
    reason: str


@dataclass(frozen=True, slots=True)
class NotebookView:
    """What a notebook shows of explanations.

    Attributes
    ----------
    sentences
        What is said above the table.
    features
        The names of the features shown.
    recommended
        The recommended counterfactuals, and the rows without one.
    alternatives
        The other counterfactuals.
    marks
        The kinds of changes in both, whose marks are explained.
    n_hidden_rows, n_hidden_features
        How many rows, and features without changes, are left out.
    """

    sentences: Sequence[Line]
    features: list[str]
    recommended: Sequence[NotebookRow]
    alternatives: Sequence[NotebookRow]
    marks: Sequence[str]
    n_hidden_rows: int
    n_hidden_features: int


def html_of_rows(explanations: ExplainedFrame) -> str:
    """Return a table of the recommended counterfactuals; alternatives are folded away."""
    rows = explanations.rows
    sentences = [Line("summary", _summary(rows))]
    if len(rows) == 1:
        sentences = _lines(next(iter(rows)))
    return render("notebook.html", _view(sentences, rows, explanations.layout))


def html_of_row(explanation: ExplainedRow) -> str:
    """Return the sentences of one explanation, then its table."""
    return render(
        "notebook.html", _view(_lines(explanation), explanation.alone(), explanation.layout)
    )


def _lines(explanation: ExplainedRow) -> list[Line]:
    """Return the sentences of a row; that there are other ways is seen, as they are folded."""
    others_are_shown = explanation.outcome is Outcome.FOUND
    return [line for line in lines(explanation) if line.kind != "search" or not others_are_shown]


def _summary(rows: ExplainedRows) -> str:
    counts = rows.outcome_counts()
    parts = [
        f"{counts[outcome]:,} {OUTCOME_WORDS[outcome]}" for outcome in Outcome if counts[outcome]
    ]
    return f"{counted(len(rows), 'row')}: {', '.join(parts) or 'none'}."


def _view(sentences: Sequence[Line], rows: ExplainedRows, layout: Layout | None) -> NotebookView:
    shown = rows.head(_MAX_ROWS)
    all_cells = ranked_cells(shown)
    features = rows.context.codec.schema.features
    n_features = len(features) if len(rows) else 0
    positions = _shown_positions(n_features, all_cells)
    recommended: list[NotebookRow] = []
    alternatives: list[NotebookRow] = []
    for explanation, cells_by_rank in zip(shown, all_cells, strict=True):
        label = row_label(explanation, layout)
        if not cells_by_rank and len(rows) > 1:  # of one row the sentences say it
            recommended.append(_row_without(explanation, label))
        for rank, cells in enumerate(cells_by_rank, start=1):
            row = _row(explanation, label, rank, cells, positions)
            (recommended if rank == 1 else alternatives).append(row)
    return NotebookView(
        sentences,
        [name_text(features[position]) for position in positions],
        recommended,
        alternatives,
        _marks(all_cells),
        n_hidden_rows=len(rows) - len(shown),
        n_hidden_features=n_features - len(positions),
    )


def _marks(all_cells: Sequence[Sequence[Sequence[ChangedCell]]]) -> list[str]:
    """Return the kinds of the changes that are shown, actions first."""
    kinds = {cell.kind for ways in all_cells for way in ways for cell in way}
    return [kind.name.lower() for kind in sorted(kinds)]


def _shown_positions(
    n_features: int, all_cells: Sequence[Sequence[Sequence[ChangedCell]]]
) -> list[int]:
    """Return the positions of the features shown: first those that the recommended ways change,
    then those of the alternatives, then, unless they are many, all others.
    """
    recommended = {cell.position for ways in all_cells for way in ways[:1] for cell in way}
    changed = {cell.position for ways in all_cells for way in ways for cell in way}
    unchanged = set(range(n_features)) - changed if n_features <= _MAX_FEATURES else set()
    return sorted(recommended) + sorted(changed - recommended) + sorted(unchanged)


def _row_without(explanation: ExplainedRow, label: str) -> NotebookRow:
    """Return the line of a row that has no counterfactual."""
    reason = lines(explanation)[0].text
    return NotebookRow(label, None, *class_texts(explanation), (), (), reason)


def _row(
    explanation: ExplainedRow,
    label: str,
    rank: int,
    cells: Sequence[ChangedCell],
    positions: Sequence[int],
) -> NotebookRow:
    then, now = then_and_now(explanation, rank)
    by_position = {cell.position: cell for cell in cells}
    return NotebookRow(
        label,
        rank,
        *class_texts(explanation),
        (now, then),
        [_cell(explanation, position, by_position.get(position)) for position in positions],
        reason="",
    )


def _cell(explanation: ExplainedRow, position: int, cell: ChangedCell | None) -> NotebookCell:
    """Return the value of a feature; ``cell`` is ``None`` where it does not change."""
    codec = explanation.context.codec
    span = codec.span[position].item()
    if cell is None:
        feature, value = codec.schema.features[position], explanation.raw[position].item()
        text = _unquoted(value_text(feature, value, span))
        return NotebookCell("none", text, text)
    before, after = cell_texts(cell, span)
    return NotebookCell(cell.kind.name.lower(), _unquoted(before), _unquoted(after))


def _unquoted(text: str) -> str:
    """Return a level without its quotes: a cell of a table needs none."""
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] == '"' else text
