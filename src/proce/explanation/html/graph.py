"""The causal graph in the report: its arrows in words once, and a picture for a row."""

from collections.abc import Sequence
from dataclasses import dataclass

from proce.explanation.html.blocks import Figure
from proce.explanation.html.svg import PICTURE_WIDTH, picture
from proce.explanation.plots.graph import graph_size, plot_graph
from proce.explanation.record.context import Context
from proce.explanation.record.outcome import Change
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.values import joined, name_texts
from proce.schema.features.numerals import counted

_MAX_LISTED_EDGES = 200
_MAX_SIZE, _MIN_HEIGHT = (PICTURE_WIDTH, 9.0), 2.0  # inches


@dataclass(frozen=True, slots=True)
class GraphReport:
    """What a report says about the causal graph, which is the same for all rows.

    Attributes
    ----------
    summary
        How large the graph is.
    arrows
        What affects what, one sentence a cause.
    """

    summary: str
    arrows: Sequence[str]


def graph_report(context: Context) -> GraphReport | None:
    """Return what to say about the causal graph; ``None`` where none was used.

    Where the graph came from is said by the caution that goes with every way.
    """
    if not context.edges:
        return None
    n_arrows = counted(len(context.edges), "arrow")
    return GraphReport(f"The causal graph has {n_arrows} from cause to effect.", _arrows(context))


def graph_figure(explanation: ExplainedRow) -> Figure | None:
    """Return the causal graph with the recommended way marked; ``None`` where none was used."""
    if not explanation.context.edges:
        return None
    follows = bool((explanation.changes[0] == Change.CONSEQUENCE).any())
    thick = "along thick ones something follows" if follows else "nothing follows from what is done"
    caption = f"Arrows lead from cause to effect; {thick}."
    svg = picture(
        lambda ax: plot_graph(explanation, ax).set_title(""),  # the page has a heading
        (PICTURE_WIDTH, max(graph_size(explanation, _MAX_SIZE)[1], _MIN_HEIGHT)),
        f"{caption} The arrows are listed at the end of the page.",
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
        arrows.append(f"And {counted(n_more, 'more arrow')}.")
    return arrows
