"""One row of the report: what was decided, what to do, what follows, other ways, how sure."""

from collections.abc import Sequence
from dataclasses import dataclass

from proce.explanation.html.blocks import Figure, FoldedList, fold_after
from proce.explanation.html.gauge import Gauge, gauge_of
from proce.explanation.html.graph import graph_figure
from proce.explanation.html.labels import row_anchor, row_label
from proce.explanation.html.obstacles import Obstacles, obstacles_of
from proce.explanation.html.svg import PICTURE_WIDTH, picture
from proce.explanation.html.ways import (
    OtherWay,
    RecommendedWay,
    other_way,
    outdone_text,
    recommended_way,
)
from proce.explanation.plots.front import plot_front
from proce.explanation.record.outcome import Outcome
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.cells import ChangedCell
from proce.explanation.words.decision import decision_text
from proce.explanation.words.sentences import Line
from proce.explanation.words.values import class_texts, name_text, value_text
from proce.schema import Action, Layout

NOT_TRIED_AGAIN = "The equations behind the consequences were not tried again on other rows."
ASKED_AGAIN = "The model was asked again about exactly the values shown here."
_MAX_SHOWN_WAYS = 3  # besides the recommended one; more are folded away
_FRONT_SIZE = (PICTURE_WIDTH, 3.6)
_ACTION_TEXTS = {
    Action.FIXED: "fixed",
    Action.INDIRECT: "only follows",
    Action.WAITS: "goes with time",
}


@dataclass(frozen=True, slots=True)
class RowValue:
    """A value of a row.

    Attributes
    ----------
    name, value
        The feature and its value.
    limit
        What the schema says of it; empty where it may change.
    """

    name: str
    value: str
    limit: str


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
        What the model says, and what was asked for; empty where the outcome says it.
    gauge
        The decision before and after as a picture; ``None`` where no probability is known.
    values
        Every value of the row.
    recommended
        The recommended counterfactual; ``None`` where nothing changes or nothing was found.
    legend
        How to read the pictures of changes, which a page says once; else empty.
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
    outdone
        Which of them are told for being different alone; empty where none is.
    front
        The trade-off between near and likely; ``None`` where it is not drawn.
    graph
        The causal graph with the recommended way; ``None`` where it is not drawn.
    certainty
        What the result rests on, and how sure it is.
    notes
        What else to know.
    """

    anchor: str
    heading: str
    decision: str
    gauge: Gauge | None
    values: Sequence[RowValue]
    recommended: RecommendedWay | None
    legend: str
    outcome: Sequence[str]
    obstacles: Obstacles | None
    cautions: Sequence[str]
    fixed: Sequence[str]
    other_ways: FoldedList[OtherWay]
    outdone: str
    front: Figure | None
    graph: Figure | None
    certainty: Sequence[str]
    notes: Sequence[str]


def row_report(
    explanation: ExplainedRow,
    cells_by_rank: Sequence[Sequence[ChangedCell]],
    lines: Sequence[Line],
    layout: Layout | None,
    *,
    draw: bool = True,
    listed: bool = False,
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
    draw
        Whether the front and the graph are drawn, which takes a moment.
    listed
        Whether the page has a list of rows, which shows where a row stands that needs no change.
    """
    cells = cells_by_rank[0] if cells_by_rank else ()
    other_ways = [
        other_way(explanation, rank, other_cells)
        for rank, other_cells in enumerate(cells_by_rank[1:], start=2)
    ]
    is_there = explanation.outcome is Outcome.ALREADY_TARGET
    obstacles = obstacles_of(explanation)
    return RowReport(
        anchor=row_anchor(explanation),
        heading=_heading(explanation, layout),
        decision="" if is_there else decision_text(explanation),
        gauge=None if listed and is_there else gauge_of(explanation),
        values=_values(explanation),
        recommended=recommended_way(explanation, cells, lines) if cells else None,
        legend="",
        outcome=_texts(lines, "outcome") if obstacles is None else [obstacles.reason],
        obstacles=obstacles,
        cautions=_texts(lines, "caution"),
        fixed=_texts(lines, "fixed"),
        other_ways=fold_after(_MAX_SHOWN_WAYS, other_ways),
        outdone=outdone_text(explanation),
        front=_front(explanation) if draw and cells else None,
        graph=graph_figure(explanation) if draw and cells else None,
        certainty=_certainty(explanation, _texts(lines, "certainty")),
        notes=[*_texts(lines, "note"), *_search_notes(explanation, lines)],
    )


def _texts(lines: Sequence[Line], kind: str) -> list[str]:
    """Return the sentences of one kind."""
    return [line.text for line in lines if line.kind == kind]


def _search_notes(explanation: ExplainedRow, lines: Sequence[Line]) -> list[str]:
    """Return that the time ran out; that there are other ways is seen, as they are shown."""
    ran_out = explanation.outcome is Outcome.OUT_OF_TIME
    return _texts(lines, "search")[:1] if ran_out else []


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


def _values(explanation: ExplainedRow) -> list[RowValue]:
    codec = explanation.context.codec
    values = zip(codec.schema, explanation.raw.tolist(), codec.span.tolist(), strict=True)
    return [
        RowValue(
            name_text(feature),
            value_text(feature, value, span),
            _ACTION_TEXTS.get(feature.action, ""),
        )
        for feature, value, span in values
    ]


def _front(explanation: ExplainedRow) -> Figure | None:
    """Return the trade-off as a picture; ``None`` where a single way leaves none."""
    n_ways = len(explanation.front or explanation)
    if max(n_ways, len(explanation)) < 2:
        return None
    caption = (
        "Each dot is a way that was found; no dot is better than another in everything. Further"
        " left is nearer to the row as it is, further up is likelier. Ways with a number are told"
        " here."
    )
    svg = picture(
        lambda ax: plot_front(explanation, ax).set_title(""),  # the page has a heading
        _FRONT_SIZE,
        f"{caption} There are {n_ways} of them.",
        f"front-{explanation.row}",
    )
    return Figure(svg, caption)


def _certainty(explanation: ExplainedRow, assumptions: Sequence[str]) -> list[str]:
    """Return the sentences on how sure the recommended counterfactual is, assumptions first."""
    certainty = list(assumptions)
    if not len(explanation):
        return certainty
    if explanation.refits is None and explanation.context.edges:
        certainty.append(NOT_TRIED_AGAIN)
    certainty.append(ASKED_AGAIN)
    return certainty
