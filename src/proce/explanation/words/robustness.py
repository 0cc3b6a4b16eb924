"""In how many other models a counterfactual keeps its decision, in words."""

from proce.arrays import Flags
from proce.explanation.record.context import Context
from proce.explanation.record.counterfactuals import Counterfactuals
from proce.explanation.record.rows import ExplainedRow, ExplainedRows


def is_less_robust(row: ExplainedRow, rank: int = 1) -> bool:
    """Return whether the counterfactual of a rank is less robust than was asked for."""
    ways = row.record.counterfactuals.between(*row.extent)
    return bool(_are_less_robust(ways, row.context)[rank - 1 : rank].any())


def count_less_robust(rows: ExplainedRows) -> int:
    """Return of how many rows the recommended counterfactual is less robust than was asked for."""
    ways = rows.counterfactuals
    return int((_are_less_robust(ways, rows.context) & (ways.ranks() == 1)).sum())


def _are_less_robust(ways: Counterfactuals, context: Context) -> Flags:
    """Return which counterfactuals ``(n,)`` are less robust than was asked for."""
    wanted = (context.robust or 0.0) * (context.n_models or 0)
    return ways.is_counted("robustness") & (ways.robustness < wanted - 1e-9)


def robustness_texts(row: ExplainedRow, rank: int = 1, subject: str = "This advice") -> list[str]:
    """Return in how many other models the counterfactual of a rank keeps its decision.

    Where it was asked for more, that is said too, of the ``subject``; nothing is said without
    other models.
    """
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
