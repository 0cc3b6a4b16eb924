"""What the pick ``typical`` looks for: rows that look like their target."""

from dataclasses import dataclass

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


@dataclass(frozen=True, eq=False)
class TypicalRows:
    """The rows of a call that are searched for what looks like their target.

    Attributes
    ----------
    positions
        Where these rows stand in the call.
    likeness
        How much candidates look like their target; ``None`` where there are no such rows.
    is_asked_for
        Whether the call asks for typical ways.
    """

    positions: Tensor
    likeness: Likeness | None = None
    is_asked_for: bool = False

    @classmethod
    def none(cls) -> "TypicalRows":
        """Return that no row is searched so."""
        return cls(torch.zeros(0, dtype=torch.long))

    def has(self, rows: Tensor) -> Tensor:
        """Return which of the rows at some positions are searched so, ``(i,)``."""
        return torch.isin(rows, self.positions)

    def chunks(self, rows: Tensor, size: int) -> list[Tensor]:
        """Return rows in chunks of at most a size, in each of which all are searched alike."""
        is_typical = self.has(rows)
        parts = rows[is_typical], rows[~is_typical]
        return [chunk for part in parts for chunk in torch.split(part, size)]

    def likeness_of(self, chunk: Tensor) -> Likeness | None:
        """Return how candidates of a chunk are measured; ``None`` where it is searched as usual."""
        return self.likeness if bool(self.has(chunk).all()) else None


def learn_looks(
    fitted: FittedParts, options: Options, rows: Tensor, target: Tensor, own: Tensor
) -> TypicalRows:
    """Learn what classes look like, where somebody asks for it, and return the rows it serves.

    A row is served where its target and its own class have enough training rows, whatever the
    other rows of the call are.

    Parameters
    ----------
    fitted, options
        What ProCE has learned, and what the caller wants.
    rows
        The positions ``(i,)`` of the rows to change.
    target, own
        ``(i,)``, their targets, and the classes that they have.
    """
    served, likeness = torch.zeros(len(rows), dtype=torch.bool), None
    pairs = sorted({*zip(target.tolist(), own.tolist(), strict=True)})
    is_asked_for = wants_typical(fitted, options)
    for pair in pairs if is_asked_for else ():
        known = fitted.likeness_of({*pair})
        if known is not None:
            likeness = known
            served |= (target == pair[0]) & (own == pair[1])
    return TypicalRows(rows[served], likeness, is_asked_for)


def typical_notes(typical: TypicalRows, rows: Tensor, found: Tensor) -> list[tuple[Tensor, str]]:
    """Return what readers should know where a typical way is asked for, each for some rows.

    Parameters
    ----------
    typical
        The rows that were searched so.
    rows, found
        The positions of the rows to change, and of those that have a counterfactual.
    """
    if not typical.is_asked_for:
        return []
    return [(rows[~typical.has(rows)], NO_LOOKS), (found[typical.has(found)], TYPICAL)]


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
