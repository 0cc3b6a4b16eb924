"""The causal graph in the report: where it came from, a picture, and its arrows in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from proce.explanation.html.blocks import Figure
from proce.explanation.html.svg import PICTURE_WIDTH, picture
from proce.explanation.plots.graph import plot_graph
from proce.explanation.record.context import Context
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.values import joined, name_texts

_MAX_LISTED_EDGES = 200
_PICTURE_SIZE = (PICTURE_WIDTH, 4.2)


@dataclass(frozen=True, slots=True)
class GraphReport:
    """What a report says about the causal graph.

    Attributes
    ----------
    summary
        How large the graph is and where it came from.
    figure
        The graph with actions and consequences marked; ``None`` where it is not drawn.
    arrows
        What affects what, one sentence a cause.
    """

    summary: str
    figure: Figure | None
    arrows: Sequence[str]


def graph_report(explanation: ExplainedRow, draw: bool) -> GraphReport | None:
    """Return what to say about the causal graph; ``None`` where none was used.

    Parameters
    ----------
    explanation
        The explanation of the row.
    draw
        Whether the graph is drawn.
    """
    context = explanation.context
    if not context.edges:
        return None
    n_arrows = len(context.edges)
    return GraphReport(
        summary=f"The causal graph has {n_arrows} arrows from cause to effect. {_source(context)}",
        figure=_figure(explanation) if draw else None,
        arrows=_arrows(context),
    )


def _source(context: Context) -> str:
    if context.graph_was_learned:
        return f"It was learned from data ({context.origin}) and may be wrong."
    if context.origin is None:
        return "Where it came from is not recorded."
    if context.graph_was_edited:
        return "It was given by a person, who edited it for this question."
    return "It was given by a person."


def _figure(explanation: ExplainedRow) -> Figure:
    caption = "Arrows lead from cause to effect; along thick ones something follows."
    svg = picture(
        lambda ax: plot_graph(explanation, ax),
        _PICTURE_SIZE,
        f"{caption} The arrows are listed below.",
        f"graph-{explanation.row}",
    )
    return Figure(svg, caption)


def _arrows(context: Context) -> list[str]:
    effects: dict[str, list[str]] = {}
    for cause, effect in context.edges[:_MAX_LISTED_EDGES]:
        named_cause, named_effect = name_texts(context, (cause, effect))
        effects.setdefault(named_cause, []).append(named_effect)
    arrows = [f"{cause} affects {joined(names)}." for cause, names in effects.items()]
    n_more = len(context.edges) - _MAX_LISTED_EDGES
    if n_more > 0:
        arrows.append(f"And {n_more} more arrows.")
    return arrows
