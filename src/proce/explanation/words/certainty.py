"""How sure a counterfactual is, in counts that a person can follow.

What follows from actions is learned from rows, and so is a graph that was discovered. Both were
learned again on rows drawn anew, and in some of these the actions may lead elsewhere.
"""

from collections.abc import Sequence

from proce.explanation.record.outcome import Change
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.cells import ChangedCell

SURE = 0.98  # advice that works with a smaller chance is told as unsure
_MIN_GRAPH_SHARE = 0.8  # what holds in fewer of the learned graphs is told as unsure


def is_unsure(row: ExplainedRow, rank: int = 1) -> bool:
    """Return whether the counterfactual of a rank may well fail, as refits or graphs say."""
    confidence, support, n_graphs = row.confidence, row.support, row.context.n_graphs
    if confidence is not None and confidence[rank - 1].item() < SURE:
        return True
    return bool(
        support is not None and n_graphs and int(support[rank - 1]) < _MIN_GRAPH_SHARE * n_graphs
    )


def certainty_texts(row: ExplainedRow, cells: Sequence[ChangedCell], rank: int = 1) -> list[str]:
    """Return in how many graphs and refits the counterfactual of a rank holds, where it is sure.

    Parameters
    ----------
    row
        The explained row.
    cells
        The changed cells of the counterfactual: where nothing follows from its actions in any
        refit, there is nothing to say of the equations.
    rank
        The rank of the counterfactual.
    """
    counts = None if is_unsure(row, rank) else _counts_text(row, cells, rank)
    return [] if counts is None else [f"It {counts}."]


def doubt_texts(
    row: ExplainedRow, cells: Sequence[ChangedCell], rank: int = 1, subject: str = "This"
) -> list[str]:
    """Return that the counterfactual of a rank is unsure, and how unsure; nothing where it is sure.

    The parameters are those of :func:`certainty_texts`; ``subject`` is what is called unsure.
    """
    if not is_unsure(row, rank):
        return []
    texts = [f"{subject} is unsure: it {_counts_text(row, cells, rank)}."]
    if row.confidence is not None and row.confidence[rank - 1].item() < SURE:
        n_true = round(100 * row.confidence[rank - 1].item())
        ending = ", and no surer one was found" if rank == 1 else ""
        texts.append(f"Of 100 pieces of advice like it, about {n_true} would work{ending}.")
    return texts


def _counts_text(row: ExplainedRow, cells: Sequence[ChangedCell], rank: int = 1) -> str | None:
    """Return ``holds in 46 of 50 graphs …, and works in 20 of 20 refits …``; ``None`` without."""
    context, parts = row.context, []
    if row.support is not None and context.n_graphs:
        count = int(row.support[rank - 1])
        parts.append(f"holds in {count} of {context.n_graphs} graphs learned from this data")
    if row.refits is not None and context.n_refits and _is_at_stake(row, cells, rank):
        parts.append(_refits_text(row, rank))
    return ", and ".join(parts) or None


def _refits_text(row: ExplainedRow, rank: int) -> str:
    assert row.refits is not None, "there are refits"
    count, n_refits = int(row.refits[rank - 1]), row.context.n_refits
    text = f"works in {count} of {n_refits} refits of the equations"
    confidence = row.confidence
    if count == n_refits and confidence is not None and confidence[rank - 1].item() < SURE:
        return f"{text}, but in some of them only just"
    return text


def _is_at_stake(row: ExplainedRow, cells: Sequence[ChangedCell], rank: int) -> bool:
    """Return whether equations say what becomes of the actions: something follows, or may."""
    if any(cell.kind is not Change.ACTION for cell in cells):
        return True
    if row.confidence is not None:
        return row.confidence[rank - 1].item() < 1
    return row.refits is not None and int(row.refits[rank - 1]) < row.context.n_refits
