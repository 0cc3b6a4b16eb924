"""Whether the class is reached, and how surely (Eq. 2)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from proce.classifier import decide

_LEAST = 1e-12  # a probability of zero costs no more than this one
_ROUNDING = 1e-12
_FARTHEST = 1e6  # ranges of the training rows


def prediction_loss(probabilities: Tensor, target: Tensor) -> Tensor:
    """Return ``-log p(target)`` (Eq. 2), ``(i, c)``, from probabilities ``(i, c, k)``."""
    return -_of_target(probabilities, target).clamp(min=_LEAST).log()


def askable(rows: Tensor) -> Tensor:
    """Return rows with no entry so far out that a model could choke on it.

    Equations can lead anywhere, and a candidate that ends far outside the training rows is not
    allowed anyway; but the model is asked about it together with all others.
    """
    return rows.clamp(-_FARTHEST, _FARTHEST)


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
        if self.threshold is None:
            wanted = self._before_rivals(probabilities, own, target)
        else:
            wanted = self._past_threshold(probabilities[..., 1], target, self.threshold)
        reached = decide(probabilities, self.threshold) == target[:, None]
        enough = reached & (wanted <= _ROUNDING)  # 0.4 + 0.2 is more than 0.6
        wanted = torch.where(enough, 0.0, wanted.clamp(min=_ROUNDING))
        if self.least is not None:
            wanted = torch.maximum(wanted, self.least - own)
        return wanted.clamp(min=0)

    def probabilities(self, n_classes: int) -> tuple[float, ...]:
        """Return what is enough for each class as the target, for a person to read."""
        decisions = (0.5,) * n_classes  # of many classes, less may do
        if n_classes == 2 and self.threshold is not None:
            decisions = (1 - self.threshold, self.threshold)
        return tuple(max(min(1.0, each + self.margin), self.least or 0.0) for each in decisions)

    def _before_rivals(self, probabilities: Tensor, own: Tensor, target: Tensor) -> Tensor:
        """Return what the target lacks before the best other class."""
        rival = probabilities.scatter(-1, _spread(target, probabilities), -1.0).amax(-1)
        lacking = rival + 2 * self.margin - own
        return lacking / 2 if probabilities.shape[-1] == 2 else lacking

    def _past_threshold(self, second: Tensor, target: Tensor, threshold: float) -> Tensor:
        """Return what the probability of the second class lacks on the target's side."""
        upper, lower = min(1.0, threshold + self.margin), max(0.0, threshold - self.margin)
        return torch.where(target[:, None] == 1, upper - second, second - lower)


def _of_target(probabilities: Tensor, target: Tensor) -> Tensor:
    return probabilities.gather(-1, _spread(target, probabilities)).squeeze(-1)


def _spread(target: Tensor, probabilities: Tensor) -> Tensor:
    return target[:, None, None].expand(*probabilities.shape[:-1], 1)
