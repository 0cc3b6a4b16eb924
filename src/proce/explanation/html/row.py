"""One row of the report: what was decided, what to do, what follows, other ways, how sure."""

from collections.abc import Sequence
from dataclasses import dataclass

from proce.explanation.html.blocks import Column, Figure, FoldedList, Table, fold_after
from proce.explanation.html.graph import GraphReport, graph_report
from proce.explanation.html.labels import row_anchor, row_label
from proce.explanation.html.obstacles import Obstacles, obstacles_of
from proce.explanation.html.svg import PICTURE_WIDTH, picture
from proce.explanation.html.ways import OtherWay, RecommendedWay, other_way, recommended_way
from proce.explanation.plots.front import plot_front
from proce.explanation.record.outcome import Outcome
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.cells import ChangedCell
from proce.explanation.words.decision import decision_text
from proce.explanation.words.needs import reached_text
from proce.explanation.words.sentences import Line
from proce.explanation.words.values import class_texts, name_text, value_text
from proce.schema import Action, Layout

_MAX_SHOWN_WAYS = 3  # besides the recommended one; more are folded away
_FRONT_SIZE = (PICTURE_WIDTH, 3.6)
_ACTION_TEXTS = {
    Action.FIXED: "fixed",
    Action.INDIRECT: "only follows",
    Action.WAITS: "goes with time",
}


@dataclass(frozen=True, slots=True)
class Drawn:
    """Which pictures of a row are drawn; the others are told in words and tables."""

    changes: bool = True
    front_and_graph: bool = True


@dataclass(frozen=True, slots=True)
class RowReport:
    """What a report says about one row.

    Attributes
    ----------
    anchor
        The id of the row's article in the page.
    heading
        The row's label and how it ended.
    decision
        What the model says, and what was asked for.
    values
        Every value of the row.
    recommended
        The recommended counterfactual; ``None`` where nothing changes or nothing was found.
    outcome
        Sentences that say why there is no counterfactual; empty where there is one.
    obstacles
        What stands in the way; ``None`` without a diagnosis.
    cautions
        What to keep in mind.
    fixed
        What could not change, and who says so.
    other_ways
        The counterfactuals from the second on.
    front
        The trade-off between near and likely; ``None`` where it is not drawn.
    graph
        The causal graph; ``None`` where none was used.
    certainty
        What the result rests on, and how sure it is.
    notes
        What else to know.
    """

    anchor: str
    heading: str
    decision: str
    values: Table
    recommended: RecommendedWay | None
    outcome: Sequence[str]
    obstacles: Obstacles | None
    cautions: Sequence[str]
    fixed: Sequence[str]
    other_ways: FoldedList[OtherWay]
    front: Figure | None
    graph: GraphReport | None
    certainty: Sequence[str]
    notes: Sequence[str]


def row_report(
    explanation: ExplainedRow,
    cells_by_rank: Sequence[Sequence[ChangedCell]],
    lines: Sequence[Line],
    layout: Layout | None,
    drawn: Drawn,
) -> RowReport:
    """Return everything that the report says about one row.

    Parameters
    ----------
    explanation
        The explanation of the row.
    cells_by_rank
        The changed cells of each of its counterfactuals.
    lines
        The sentences for the row, but those that are said once for all rows.
    layout
        The layout of the explained frame; ``None`` where it is not known.
    drawn
        Which pictures are drawn.
    """
    cells = cells_by_rank[0] if cells_by_rank else ()
    diagnosis = None if cells else explanation.diagnosis
    other_ways = [
        other_way(explanation, rank, other_cells)
        for rank, other_cells in enumerate(cells_by_rank[1:], start=2)
    ]
    return RowReport(
        anchor=row_anchor(explanation),
        heading=_heading(explanation, layout),
        decision=decision_text(explanation),
        values=_values(explanation),
        recommended=(
            recommended_way(explanation, cells, lines, draw=drawn.changes) if cells else None
        ),
        outcome=_texts(lines, "outcome"),
        obstacles=None if diagnosis is None else obstacles_of(diagnosis, explanation.context),
        cautions=_texts(lines, "caution"),
        fixed=_texts(lines, "fixed"),
        other_ways=fold_after(_MAX_SHOWN_WAYS, other_ways),
        front=_front(explanation) if drawn.front_and_graph and cells else None,
        graph=graph_report(explanation, drawn.front_and_graph),
        certainty=_certainty(explanation, _texts(lines, "certainty")),
        notes=[*_texts(lines, "note"), *_texts(lines, "search")],
    )


def _texts(lines: Sequence[Line], kind: str) -> list[str]:
    """Return the sentences of one kind."""
    return [line.text for line in lines if line.kind == kind]


def _heading(explanation: ExplainedRow, layout: Layout | None) -> str:
    predicted, target = class_texts(explanation)
    ending = {
        Outcome.FOUND: f"from {predicted} to {target}",
        Outcome.ALREADY_TARGET: f"{predicted} already",
        Outcome.NOT_FOUND: f"no way to {target} found",
        Outcome.OUT_OF_TIME: "the time ran out",
        Outcome.FAILED: "the model failed",
    }[explanation.outcome]
    return f"Row {row_label(explanation, layout)}: {ending}"


def _values(explanation: ExplainedRow) -> Table:
    codec = explanation.context.codec
    values = zip(codec.schema, explanation.raw.tolist(), codec.span.tolist(), strict=True)
    return Table(
        "Every value, and what the schema lets a person do",
        (Column("feature"), Column("value", numeric=True), Column("by the schema")),
        [
            (
                name_text(feature),
                value_text(feature, value, span),
                _ACTION_TEXTS.get(feature.action, "may change"),
            )
            for feature, value, span in values
        ],
    )


def _front(explanation: ExplainedRow) -> Figure:
    caption = (
        "Each dot is a way that was found; none is better than another in everything. Further left"
        " is nearer to the row as it is, further up is likelier. Ways with a number are told here."
    )
    svg = picture(
        lambda ax: plot_front(explanation, ax),
        _FRONT_SIZE,
        f"{caption} There are {len(explanation.front or explanation)} of them.",
        f"front-{explanation.row}",
    )
    return Figure(svg, caption)


def _certainty(explanation: ExplainedRow, assumptions: Sequence[str]) -> list[str]:
    """Return the sentences on how sure the recommended counterfactual is, assumptions first."""
    certainty = list(assumptions)
    if not len(explanation):
        return certainty
    if explanation.margin_met:
        certainty.insert(0, reached_text(explanation))
    if explanation.refits is None and explanation.context.edges:
        certainty.append(
            "The equations behind the consequences were not tried again on other rows."
        )
    certainty.append("The model was asked again about exactly the values shown here.")
    return certainty
