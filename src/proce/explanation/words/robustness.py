"""In how many other models a counterfactual keeps its decision, in words."""

from proce.explanation.record.rows import ExplainedRow, ExplainedRows


def is_less_robust(row: ExplainedRow, rank: int = 1) -> bool:
    """Return whether the counterfactual of a rank is less robust than was asked for."""
    robust, n_models = row.context.robust, row.context.n_models
    if row.robustness is None or robust is None or not n_models:
        return False
    return int(row.robustness[rank - 1]) < robust * n_models - 1e-9


def count_less_robust(rows: ExplainedRows) -> int:
    """Return of how many rows the recommended counterfactual is less robust than was asked for."""
    ways, robust, n_models = rows.counterfactuals, rows.context.robust, rows.context.n_models
    if robust is None or not n_models:
        return 0
    in_few = ways.is_counted("robustness") & (ways.robustness < robust * n_models - 1e-9)
    return int((in_few & (ways.ranks() == 1)).sum())


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
