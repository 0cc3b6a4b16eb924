"""In how many other models a counterfactual keeps its decision, in words."""

from proce.explanation.record.rows import ExplainedRow


def robustness_texts(row: ExplainedRow, rank: int = 1) -> list[str]:
    """Return in how many other models the counterfactual of a rank keeps its decision.

    Where it was asked for more, that is said too; nothing is said without other models.
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
    if context.robust is None or count >= context.robust * context.n_models - 1e-9:
        return [f"It {kept}."]
    wanted = f"{100 * context.robust:.3g} of 100 were asked for"
    ending = ", and no advice was found that does in more" if rank == 1 else ""
    return [f"This is not robust: it {kept}; {wanted}{ending}."]
