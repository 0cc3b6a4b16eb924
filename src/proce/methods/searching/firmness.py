"""Whether advice holds when the equations are fitted again on other rows."""

from collections.abc import Iterator

import torch
from torch import Tensor

from proce.causal import Actions, Ensemble
from proce.objective import CounterfactualProblem

_MIN_REFIT_SHARE = 0.8  # of the refits must reach the decision, or it is no advice


def worst_shortfall(
    problem: CounterfactualProblem, realised: Actions, refits: Ensemble | None
) -> Tensor:
    """Return what the actions of each candidate ``(i, c)`` lack in the worst refit.

    The shortfall is zero where the actions reach the target in all refits, and infinite where they
    reach it in too few refits to be advice.
    """
    worst = torch.zeros_like(realised.point[..., 0])
    if refits is None:
        return worst
    n_reached = torch.zeros_like(worst)
    for shortfall in shortfalls(problem, realised.point, realised.by_hand, refits):
        worst = torch.maximum(worst, shortfall)
        n_reached += shortfall <= 0
    return worst.where(n_reached >= _MIN_REFIT_SHARE * len(refits.members), torch.inf)


def shortfalls(
    problem: CounterfactualProblem, rows: Tensor, by_hand: Tensor, refits: Ensemble
) -> Iterator[Tensor]:
    """Yield for each refit what the actions in rows ``(i, c, f)`` lack to the decision."""
    query, decision = problem.query, problem.requirement.without_margin()
    if problem.clock is not None:
        by_hand = problem.clock.with_others(by_hand)
    for reached in refits.outcomes(query.factual, rows, by_hand, seed=query.seed, keys=query.keys):
        yield decision.shortfall(problem.ask(reached), query.target)
