"""The ways of one row in the report: the recommended one in full, the others in short."""

from collections.abc import Sequence
from dataclasses import dataclass

from proce.explanation.html.blocks import Column, Exhibit, Figure, FoldedList, Table, fold_after
from proce.explanation.html.svg import PICTURE_WIDTH, picture
from proce.explanation.plots.changes import plot_changes
from proce.explanation.record.outcome import Change
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.cells import ChangedCell
from proce.explanation.words.certainty import doubt_texts
from proce.explanation.words.instructions import consequence, instructions, interval_text
from proce.explanation.words.sentences import MAX_SHOWN, Line
from proce.explanation.words.values import cell_texts, class_texts, joined, name_text, percent
from proce.explanation.words.waiting import is_waiting

_MAX_DRAWN_CHANGES = 12  # the plot draws no more
_DISTANCE = 2  # the column of the losses
_KIND_TEXTS = {
    Change.ACTION: "to do",
    Change.HOLD: "to keep, although it would change",
    Change.CONSEQUENCE: "expected to follow",
}


@dataclass(frozen=True, slots=True)
class RecommendedWay:
    """The recommended counterfactual of a row.

    Attributes
    ----------
    actions
        What to do, one sentence a feature.
    contrast
        What the model would have said.
    doubt
        That the way is unsure, and how sure it is; empty where it is sure.
    consequences
        What is expected to follow, one sentence a feature.
    changes
        Before and after of every change.
    """

    actions: Sequence[str]
    contrast: Sequence[str]
    doubt: Sequence[str]
    consequences: FoldedList[str]
    changes: Exhibit


@dataclass(frozen=True, slots=True)
class OtherWay:
    """A counterfactual that is not the recommended one.

    Attributes
    ----------
    heading
        Its rank and the probability of the target.
    actions
        What to do, one sentence a feature.
    consequences
        What is expected to follow, in one sentence; ``None`` where nothing follows.
    distance
        How far it is from the row, beside the recommended one.
    doubt
        That the way is unsure, and how sure it is; empty where it is sure.
    """

    heading: str
    actions: Sequence[str]
    consequences: str | None
    distance: str
    doubt: Sequence[str]


def recommended_way(
    explanation: ExplainedRow,
    cells: Sequence[ChangedCell],
    lines: Sequence[Line],
    *,
    draw: bool = True,
) -> RecommendedWay:
    """Return the recommended counterfactual.

    Parameters
    ----------
    explanation
        The explanation of the row.
    cells
        The changed cells of the recommended counterfactual.
    lines
        The sentences for the row, of which those are shown that say what the model would have
        said, and how unsure the way is.
    draw
        Whether the changes are drawn beside their table.
    """
    consequences = [
        consequence(cell, explanation.context)
        for cell in cells
        if cell.kind is Change.CONSEQUENCE and not is_waiting(cell)
    ]
    return RecommendedWay(
        actions=_instructions(explanation, cells),
        contrast=[line.text for line in lines if line.kind == "contrast"],
        doubt=[line.text for line in lines if line.kind == "doubt"],
        consequences=fold_after(MAX_SHOWN, consequences),
        changes=Exhibit(_figure(explanation, cells) if draw else None, _table(explanation, cells)),
    )


def other_way(explanation: ExplainedRow, rank: int, cells: Sequence[ChangedCell]) -> OtherWay:
    """Return the counterfactual of a rank from 2 on, whose changed cells are given."""
    consequences = [
        f"{name_text(cell.feature)} {' → '.join(_before_after(explanation, cell))}"
        for cell in cells
        if cell.kind is Change.CONSEQUENCE and not is_waiting(cell)
    ]
    target = class_texts(explanation)[1]
    chance = percent(explanation.probabilities[rank - 1].item())
    distances = explanation.losses[:, _DISTANCE].tolist()
    return OtherWay(
        heading=f"Way {rank}: {target} with {chance}",
        actions=_instructions(explanation, cells),
        consequences=(
            f"Expected to follow: {joined(consequences, MAX_SHOWN)}." if consequences else None
        ),
        distance=f"Distance {distances[rank - 1]:.2f}, where the first has {distances[0]:.2f}.",
        doubt=doubt_texts(explanation, cells, rank),
    )


def _instructions(explanation: ExplainedRow, cells: Sequence[ChangedCell]) -> list[str]:
    """Return a sentence for each cell that a person acts on or holds."""
    return instructions(cells, explanation.context)


def _table(explanation: ExplainedRow, cells: Sequence[ChangedCell]) -> Table:
    columns = [
        Column("feature"),
        Column("before", numeric=True),
        Column("after", numeric=True),
        Column("what it is"),
    ]
    with_intervals = any(cell.holds_from == cell.holds_from for cell in cells)
    if with_intervals:
        columns.append(Column("today's model decides so between", numeric=True))
    if explanation.contributions is not None:
        columns.append(Column("adds to the probability", numeric=True))
    rows = [
        (
            name_text(cell.feature),
            *_before_after(explanation, cell),
            "by waiting" if is_waiting(cell) else _KIND_TEXTS[cell.kind],
            *([interval_text(cell, explanation.context) or ""] if with_intervals else []),
            *_contribution(explanation, cell),
        )
        for cell in cells
    ]
    return Table("Every change of the recommended way", columns, rows)


def _figure(explanation: ExplainedRow, cells: Sequence[ChangedCell]) -> Figure:
    caption = "Where the row is among the training rows, and where it would be."
    svg = picture(
        lambda ax: plot_changes(explanation, ax),
        (PICTURE_WIDTH, 1.1 + 0.52 * min(len(cells), _MAX_DRAWN_CHANGES)),
        f"{caption} The same values are in the table below.",
        f"changes-{explanation.row}",
    )
    return Figure(svg, caption)


def _before_after(explanation: ExplainedRow, cell: ChangedCell) -> tuple[str, str]:
    return cell_texts(cell, explanation.context.codec.span[cell.position].item())


def _contribution(explanation: ExplainedRow, cell: ChangedCell) -> list[str]:
    """Return the cell of the last column; no cell where contributions are not known."""
    if explanation.contributions is None:
        return []
    points = 100 * explanation.contributions[0, cell.position].item()
    return [f"{points:+.0f} points".replace("-", "−") if cell.kind is Change.ACTION else ""]
