"""The prototype of a row: the mean latent of its nearest rows in the target class (Eqs. 3-5).

Eq. 3 takes neighbours whose class is not the row's own. With more than two classes such a row
need not be of the target class, so the neighbours here are the nearest training rows that are
*predicted* as the target.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from proce.errors import ModelError
from proce.schema import Level

BLOCK_BYTES = 64 * 2**20  # of distances held at a time
_N_SPARE = 8  # candidates beyond K whose distances are computed exactly
_ROUNDING_EPSILONS = 64  # machine epsilons by which the product form of a distance may be off


@dataclass(frozen=True)
class Prototypes:
    """The prototypes of some rows.

    Attributes
    ----------
    latents
        ``(q, e)``, the mean latent of the neighbours (Eq. 5).
    neighbours
        ``(q, k)``, their positions among the training rows, the nearest first; there are fewer
        than were asked for where the class has fewer rows.
    """

    latents: Tensor
    neighbours: Tensor


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
    block_bytes
        How much memory the distances may take at a time.
    """

    def __init__(
        self,
        latents: Tensor,
        predicted: Tensor,
        classes: Sequence[Level],
        block_bytes: int = BLOCK_BYTES,
    ) -> None:
        self.classes = tuple(classes)
        self._block_bytes = block_bytes
        self._rows = [torch.nonzero(predicted == k).flatten() for k in range(len(self.classes))]
        self._latents = [latents[rows] for rows in self._rows]
        self._norms = [members.square().sum(-1) for members in self._latents]

    @property
    def sizes(self) -> Tensor:
        """How many training rows are predicted as each class, ``(k,)``."""
        return torch.tensor([len(rows) for rows in self._rows])

    @property
    def members(self) -> tuple[Tensor, Tensor]:
        """The latents ``(n, e)`` and the predicted classes ``(n,)`` that it was made of."""
        positions, latents = torch.cat(self._rows), torch.cat(self._latents)
        predicted = torch.cat([torch.full_like(rows, k) for k, rows in enumerate(self._rows)])
        order = positions.argsort()
        return latents[order], predicted[order]

    def on_device(self, device: torch.device) -> "PrototypeIndex":
        """Return the same index on a device."""
        if all(rows.device.type == device.type for rows in self._rows):
            return self
        moved = PrototypeIndex(torch.empty(0, 0), torch.empty(0), self.classes, self._block_bytes)
        moved._rows = [rows.to(device) for rows in self._rows]
        moved._latents = [latents.to(device) for latents in self._latents]
        moved._norms = [norms.to(device) for norms in self._norms]
        return moved

    def prototype(self, latent: Tensor, target: int, n_neighbours: int) -> Prototypes:
        """Return the prototypes of latents ``(q, e)`` for a class.

        Parameters
        ----------
        latent
            The latents of the rows to explain.
        target
            The class, as a position in ``classes``.
        n_neighbours
            K of the paper; a class with fewer rows gives all it has.
        """
        members, rows, norms = (part[target] for part in (self._latents, self._rows, self._norms))
        if not len(rows):
            raise ModelError(
                f"no training row is predicted as {self.classes[target]!r}, so it has no prototype."
                " Choose another target, or fit on rows that the model puts in that class."
            )
        count = min(n_neighbours, len(rows))
        block = max(1, self._block_bytes // (members.element_size() * len(rows)))
        parts = torch.split(latent, block)
        nearest = torch.cat([_nearest(part, members, norms, count) for part in parts])
        return Prototypes(members[nearest].mean(1), rows[nearest])


def _nearest(queries: Tensor, members: Tensor, norms: Tensor, count: int) -> Tensor:
    """Return the positions ``(q, count)`` of the nearest members; ties go to the earlier.

    The product form of the distance finds candidates fast but rounds, so they are compared by
    the difference form. Where a member outside of the candidates could still be nearer, all members
    that could be are compared. ``norms (n,)`` are the squared lengths of the members.
    """
    own = queries.square().sum(-1, keepdim=True)  # (q, 1)
    rough = torch.addmm(norms, queries, members.T, alpha=-2).add_(own)  # (q, n)
    rounding = _ROUNDING_EPSILONS * torch.finfo(rough.dtype).eps * (own + norms.max())
    size = min(count + _N_SPARE, len(members))
    reached, candidates = rough.topk(size, largest=False)
    nearest, farthest = _rank_exactly(queries, members, candidates, count)
    if size < len(members):
        doubtful = farthest >= (reached[:, -1:] - rounding).flatten()
        for query in torch.nonzero(doubtful).flatten().tolist():
            limit = farthest[query] + rounding[query]
            possible = torch.nonzero(rough[query] <= limit).T
            only = slice(query, query + 1)
            nearest[only], _ = _rank_exactly(queries[only], members, possible, count)
    return nearest


def _rank_exactly(
    queries: Tensor, members: Tensor, candidates: Tensor, count: int
) -> tuple[Tensor, Tensor]:
    """Return the nearest of the candidates ``(q, k)``, and the distance of the last of them."""
    candidates = candidates.sort(dim=1).values
    offset = queries[:, None].double() - members[candidates].double()  # (q, k, e)
    distance, order = offset.square().sum(-1).sort(dim=1, stable=True)
    return candidates.gather(1, order[:, :count]), distance[:, count - 1]
