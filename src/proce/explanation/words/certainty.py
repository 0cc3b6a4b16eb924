"""How sure a counterfactual is, in counts that a person can follow.

What follows from actions is learned from rows, and so is a graph that was discovered. Both were
learned again on rows drawn anew, and in some of these the actions may lead elsewhere; in other
models the decision may.
"""

import math
from collections.abc import Sequence

from proce.arrays import Flags
from proce.causal.graphs.features import unknown_causes
from proce.explanation.record.context import Context
from proce.explanation.record.counterfactuals import SURE, Change, Counterfactuals
from proce.explanation.record.rows import ExplainedRow, ExplainedRows
from proce.explanation.words.cells import ChangedCell
from proce.explanation.words.values import joined, name_texts
from proce.schema.features.numerals import counted

_IF_RIGHT = "if the arrows of the causal graph are right"
_MIN_GRAPH_SHARE = 0.8  # what holds in fewer of the learned graphs is told as unsure


def is_unsure(row: ExplainedRow, rank: int = 1) -> bool:
    """Return whether the counterfactual of a rank may well fail, as refits or graphs say."""
    return bool(_are_unsure(row.ways, row.context)[rank - 1 : rank].any())


def count_unsure(rows: ExplainedRows) -> int:
    """Return of how many rows the recommended counterfactual is unsure; see :func:`is_unsure`."""
    ways = rows.counterfactuals
    return int((_are_unsure(ways, rows.context) & (ways.ranks() == 1)).sum())


def _are_unsure(ways: Counterfactuals, context: Context) -> Flags:
    """Return which counterfactuals ``(n,)`` may well fail, as refits or graphs say."""
    in_few = ways.support < _MIN_GRAPH_SHARE * context.n_graphs
    return (ways.confidence < SURE) | ways.is_counted("support") & in_few


def certainty_texts(row: ExplainedRow, cells: Sequence[ChangedCell], rank: int = 1) -> list[str]:
    """Return in how many graphs and refits the counterfactual of a rank holds, where it is sure."""
    if is_unsure(row, rank):
        return []
    parts = _graphs_texts(row, rank)
    if not _unknown_texts(row, cells, rank):
        parts += _refits_texts(row, cells, rank)
    return [f"It {', and '.join(parts)}."] if parts else []


def doubt_texts(
    row: ExplainedRow, cells: Sequence[ChangedCell], rank: int = 1, subject: str = "This advice"
) -> list[str]:
    """Return that a counterfactual is unsure, and how; or that a missing cell hides how sure."""
    unknown = _unknown_texts(row, cells, rank, subject)
    if not is_unsure(row, rank):
        return unknown
    graphs = _graphs_texts(row, rank)
    if row.confidence is None or not row.confidence[rank - 1].item() < SURE:
        return [f"{subject} is unsure: it {graphs[0]}.", *unknown]
    n_true = round(100 * row.confidence[rank - 1].item())
    ending = ", and no clearly surer one was found" if rank == 1 else ""
    return [
        f"{subject} is unsure: about {n_true} of 100 such pieces of advice would work,"
        f" {_IF_RIGHT}{ending}.",
        *(f"It {text}." for text in graphs),
    ]


def _unknown_texts(
    row: ExplainedRow, cells: Sequence[ChangedCell], rank: int, subject: str = "This"
) -> list[str]:
    """Return which missing cells hide how sure the counterfactual of a rank is; mostly nothing."""
    context = row.context
    is_known = row.confidence is not None and not math.isnan(row.confidence[rank - 1])
    if is_known or row.refits is None or not context.n_refits:
        return []
    codec = context.codec
    flags = codec.missing(row.factual).tolist()
    names = unknown_causes(
        context.edges,
        codec.schema,
        [name for name, is_missing in zip(codec.schema.names, flags, strict=True) if is_missing],
        [cell.feature.name for cell in cells if cell.kind is not Change.HOLD],
        [cell.feature.name for cell in cells if cell.kind.by_hand],
    )
    start = f"How sure {subject.lower()} is cannot be told:"
    if names:
        verb, pronoun = ("is", "it") if len(names) == 1 else ("are", "them")
        named = joined(name_texts(context, names))
        return [f"{start} {named} {verb} missing, and what would follow depends on {pronoun}."]
    if context.withheld:
        return [f"{start} a value that what follows depends on is missing."]
    return []  # a result from before chances were told


def _graphs_texts(row: ExplainedRow, rank: int) -> list[str]:
    n_graphs = row.context.n_graphs
    if row.support is None or not n_graphs:
        return []
    graphs = counted(n_graphs, "graph")
    return [f"holds in {int(row.support[rank - 1])} of {graphs} learned from this data"]


def _refits_texts(row: ExplainedRow, cells: Sequence[ChangedCell], rank: int) -> list[str]:
    n_refits = row.context.n_refits
    if row.refits is None or not n_refits or not _is_at_stake(row, cells, rank):
        return []
    count = int(row.refits[rank - 1])
    return [f"works in {count} of {n_refits} refits of the equations, {_IF_RIGHT}"]


def _is_at_stake(row: ExplainedRow, cells: Sequence[ChangedCell], rank: int) -> bool:
    """Return whether equations say what becomes of the actions: something follows, or may."""
    if any(cell.kind is not Change.ACTION for cell in cells):
        return True
    if row.confidence is not None:
        return row.confidence[rank - 1].item() < 1
    return row.refits is not None and int(row.refits[rank - 1]) < row.context.n_refits


def is_less_robust(row: ExplainedRow, rank: int = 1) -> bool:
    """Return whether the counterfactual of a rank is less robust than was asked for."""
    return bool(_are_less_robust(row.ways, row.context)[rank - 1 : rank].any())


def count_less_robust(rows: ExplainedRows) -> int:
    """Return of how many rows the recommended counterfactual is less robust than was asked for."""
    ways = rows.counterfactuals
    return int((_are_less_robust(ways, rows.context) & (ways.ranks() == 1)).sum())


def _are_less_robust(ways: Counterfactuals, context: Context) -> Flags:
    """Return which counterfactuals ``(n,)`` are less robust than was asked for."""
    wanted = (context.robust or 0.0) * (context.n_models or 0)
    return ways.is_counted("robustness") & (ways.robustness < wanted - 1e-9)


def robustness_texts(row: ExplainedRow, rank: int = 1, subject: str = "This advice") -> list[str]:
    """Return in how many other models the decision is kept, and whether more was asked for."""
    context = row.context
    if row.robustness is None or not context.n_models:
        return []
    count, others = int(row.robustness[rank - 1]), "other models"
    if context.models_are_refits:
        others = "refits of the model on resampled rows"
    if context.n_models == 1:
        others = others.replace("refits", "refit").replace("models", "model")
    kept = f"keeps its decision in {count} of {context.n_models} {others}"
    if context.robust is None or not is_less_robust(row, rank):
        return [f"It {kept}."]
    wanted = f"{100 * context.robust:.3g} of 100 were asked for"
    ending = ", and no advice was found that does in more" if rank == 1 else ""
    return [f"{subject} is not robust: it {kept}; {wanted}{ending}."]
