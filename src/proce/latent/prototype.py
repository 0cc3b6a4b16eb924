"""The prototype of a row: the mean latent of its nearest rows in the target class (Eqs. 3-5).

Eq. 3 asks for neighbours whose class is not the row's own, which the complement of a class
does not grant; here they are the nearest training rows *predicted* as the target.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from proce.errors import ModelError
from proce.schema import Level

_BLOCK_BYTES = 64 * 2**20  # distances held at a time
_SPARE = 8  # candidates beyond K that are looked at exactly
_ROUNDING = 64  # machine epsilons by which the product form of a distance may be off


@dataclass(frozen=True)
class Prototypes:
    """The prototypes of some rows.

    Attributes
    ----------
    latents
        ``(q, e)``, the mean latent of the neighbours (Eq. 5).
    neighbours
        ``(q, k)``, their positions among the training rows, the nearest first.
    n_asked
        K as asked for; ``neighbours`` has fewer columns where the class has fewer rows.
    """

    latents: Tensor
    neighbours: Tensor
    n_asked: int

    @property
    def note(self) -> str | None:
        """What to tell the user, if the class had fewer rows than were asked for."""
        found = self.neighbours.shape[1]
        if found == self.n_asked:
            return None
        return f"only {found} training rows are predicted as the target; {self.n_asked} were asked"


class PrototypeIndex:
    """Training latents by predicted class, searched exactly.

    Parameters
    ----------
    latents
        ``(n, e)`` of the training rows.
    predicted
        ``(n,)``, each row's predicted class as a position in ``classes``.
    classes
        The labels, for messages.
    """

    def __init__(self, latents: Tensor, predicted: Tensor, classes: Sequence[Level]) -> None:
        self.classes = tuple(classes)
        self._rows = [torch.nonzero(predicted == k).flatten() for k in range(len(self.classes))]
        self._latents = [latents[rows] for rows in self._rows]

    @property
    def sizes(self) -> Tensor:
        """How many training rows are predicted as each class, ``(k,)``."""
        return torch.tensor([len(rows) for rows in self._rows])

    @property
    def members(self) -> tuple[Tensor, Tensor]:
        """The latents ``(n, e)`` and the predicted classes ``(n,)`` that it was made of."""
        rows, latents = torch.cat(self._rows), torch.cat(self._latents)
        predicted = torch.cat([torch.full_like(each, k) for k, each in enumerate(self._rows)])
        order = rows.argsort()
        return latents[order], predicted[order]

    def prototype(self, latent: Tensor, target: int, n_neighbours: int) -> Prototypes:
        """Return the prototypes of latents ``(q, e)`` for a class.

        Parameters
        ----------
        latent
            Of the rows to explain.
        target
            The class, as a position in ``classes``.
        n_neighbours
            K of the paper; a class with fewer rows gives all it has, and ``note`` says so.
        """
        members, rows = self._latents[target], self._rows[target]
        if not len(rows):
            raise ModelError(
                f"no training row is predicted as {self.classes[target]!r}, so it has no prototype."
                " Choose another target, or fit on rows that the model puts in that class."
            )
        count = min(n_neighbours, len(rows))
        block = max(1, _BLOCK_BYTES // (members.element_size() * len(rows)))
        nearest = torch.cat([_nearest(part, members, count) for part in torch.split(latent, block)])
        return Prototypes(members[nearest].mean(1), rows[nearest], n_neighbours)


def _nearest(queries: Tensor, members: Tensor, count: int) -> Tensor:
    """Return the positions ``(q, count)`` of the nearest members; ties go to the earlier one.

    The product form of the distance finds candidates fast but rounds, so they are compared by
    the difference form; where a member outside the candidates could still win, all that could
    are compared.
    """
    norms = members.square().sum(-1)  # (n,)
    own = queries.square().sum(-1, keepdim=True)  # (q, 1)
    rough = torch.addmm(norms, queries, members.T, alpha=-2).add_(own)  # (q, n)
    rounding = _ROUNDING * torch.finfo(rough.dtype).eps * (own + norms.max())
    size = min(count + _SPARE, len(members))
    reached, candidates = rough.topk(size, largest=False)
    nearest, farthest = _ranked(queries, members, candidates, count)
    if size < len(members):
        doubtful = farthest >= (reached[:, -1:] - rounding).flatten()
        for query in torch.nonzero(doubtful).flatten().tolist():
            limit = farthest[query] + rounding[query]
            possible = torch.nonzero(rough[query] <= limit).T
            only = slice(query, query + 1)
            nearest[only], _ = _ranked(queries[only], members, possible, count)
    return nearest


def _ranked(
    queries: Tensor, members: Tensor, candidates: Tensor, count: int
) -> tuple[Tensor, Tensor]:
    """Return the nearest of the candidates ``(q, k)``, and the distance of the last of them."""
    candidates = candidates.sort(dim=1).values
    offset = queries[:, None].double() - members[candidates].double()  # (q, k, e)
    distance, order = offset.square().sum(-1).sort(dim=1, stable=True)
    return candidates.gather(1, order[:, :count]), distance[:, count - 1]
