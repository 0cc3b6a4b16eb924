"""What the pick ``typical`` looks for: rows that look like their target."""

import torch
from torch import Tensor

from proce.losses import Loss
from proce.methods.calls.options import Options
from proce.methods.fitting.fitted import FittedParts
from proce.methods.searching.chances import surest
from proce.objective import Likeness
from proce.search import SearchResult

NO_LOOKS = (
    "What a typical row of the target looks like could not be learned: the training rows were not"
    " saved, or hardly any of them has the class. The row nearest to the prototype of the target"
    " was picked instead."
)
TYPICAL = (
    "A typical way was asked for: it may ask for more than the decision needs, so that the row"
    " looks more like others with this decision."
)


def wants_typical(fitted: FittedParts, options: Options) -> bool:
    """Whether a search is for rows that look like their target.

    As the paper prints it, the pick is made among what a search for the prototype finds.
    """
    return options.pick == "typical" and fitted.settings.sparse and fitted.mode != "paper"


def learn_likeness(
    fitted: FittedParts, options: Options, target: Tensor, own: Tensor
) -> Likeness | None:
    """Return how much rows look like their targets ``(i,)``, rather than what they are ``(i,)``.

    ``None`` where nobody asks for it or it cannot be learned.
    """
    if not wants_typical(fitted, options) or not len(target):
        return None
    return fitted.likeness_of({*target.tolist(), *own.tolist()})


def most_typical(search: SearchResult, limit: Tensor, n: int) -> Tensor:
    """Return genes ``(i, n, g)`` of the candidates that look most like their targets.

    Candidates beyond the distance ``limit (i,)`` and infeasible ones come last.
    """
    population = search.population
    near = (population.violation <= 0) & (population.losses[..., Loss.DISTANCE] <= limit[:, None])
    order = population.losses[..., Loss.PROTOTYPE].where(near, torch.inf)
    first = order.argsort(dim=1, stable=True)[:, :n]
    return population.genes[torch.arange(len(first))[:, None], first]


def not_too_far(distance: Tensor, missing: Tensor, within: float) -> Tensor:
    """Return flags ``(…, p)`` for candidates that are not too far to be typical.

    Parameters
    ----------
    distance, missing
        ``(…, p)``, how far each candidate is, and what it lacks of the chance that is asked for.
    within
        How many times as far as the closest of the surest a candidate may be.
    """
    if not distance.numel():
        return distance.bool()
    closest = distance.where(surest(missing), torch.inf).amin(-1, keepdim=True)
    return distance <= within * closest + 1e-12
