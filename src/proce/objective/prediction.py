"""Whether the class is reached, and how surely (Eq. 2)."""

from dataclasses import dataclass

import torch
from torch import Tensor

_LEAST = 1e-12  # a probability of zero costs no more than this one


def prediction_loss(probabilities: Tensor, target: Tensor) -> Tensor:
    """Return ``-log p(target)`` (Eq. 2), ``(i, c)``, from probabilities ``(i, c, k)``."""
    return -_of_target(probabilities, target).clamp(min=_LEAST).log()


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a counterfactual's probabilities must be for the target to count as reached.

    Attributes
    ----------
    threshold
        The decision threshold of a binary model; ``None`` for the likeliest class.
    margin
        How far beyond the decision: ``p >= threshold + margin`` for two classes, ``p - best
        other >= 2 * margin`` for more.
    least
        A probability that must be reached besides, or ``None``.
    """

    threshold: float | None
    margin: float
    least: float | None = None

    def shortfall(self, probabilities: Tensor, target: Tensor) -> Tensor:
        """Return how much is lacking, ``(i, c)``; zero exactly where the target is reached."""
        own = _of_target(probabilities, target)
        if probabilities.shape[-1] == 2:
            wanted = self._binary(target).to(own)[:, None] - own
        else:
            others = probabilities.scatter(-1, _spread(target, probabilities), -1.0)
            rival, which = others.max(-1)
            first = which < target[:, None]  # a tie goes to the class that is listed first
            wanted = rival + 2 * self.margin - own
            tied = (wanted == 0) & first & (self.margin == 0)
            wanted = torch.where(tied, torch.finfo(own.dtype).eps, wanted)
        if self.least is not None:
            wanted = torch.maximum(wanted, self.least - own)
        return wanted.clamp(min=0)

    def probability(self, n_classes: int) -> float:
        """Return the probability that is enough, for a person to read."""
        if self.least is not None:
            return self.least
        if n_classes > 2:
            return min(1.0, 0.5 + self.margin)  # enough; less may do where others are lower still
        return min(1.0, (self.threshold or 0.5) + self.margin)

    def _binary(self, target: Tensor) -> Tensor:
        """Return the probability that each target needs, ``(i,)``."""
        half = torch.tensor(0.5 if self.threshold is None else self.threshold, dtype=torch.float64)
        above = torch.nextafter(half, torch.ones_like(half))
        below = torch.nextafter(1 - half, torch.ones_like(half))
        # argmax gives a tie to the first class; a threshold gives it to the second
        needs = torch.stack([half, above] if self.threshold is None else [below, half])
        return (needs.to(target.device)[target] + self.margin).clamp(max=1.0)


def _of_target(probabilities: Tensor, target: Tensor) -> Tensor:
    return probabilities.gather(-1, _spread(target, probabilities)).squeeze(-1)


def _spread(target: Tensor, probabilities: Tensor) -> Tensor:
    return target[:, None, None].expand(*probabilities.shape[:-1], 1)
