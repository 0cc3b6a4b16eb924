"""What counts as reaching the target: the decision, the margin and the probability asked for."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from proce.classifier import decide
from proce.objective.prediction import target_index, target_probability

SHORTFALL_ROUNDING = 1e-12  # of a probability
_MIN_PROBABILITY = 1e-6  # nearer to 0 or 1, log-odds are not told apart


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a counterfactual's probabilities must be for the target to count as reached.

    Attributes
    ----------
    threshold
        The decision threshold of a binary model; ``None`` for the likeliest class.
    margin
        How far beyond the decision the target must be: ``p >= threshold + margin`` for two
        classes, ``p - best other >= 2 * margin`` for more.
    min_probability
        A probability of the target that must be reached as well, or ``None``.
    """

    threshold: float | None
    margin: float
    min_probability: float | None = None

    def without_margin(self) -> "Requirement":
        """Return the requirement for which the decision itself is enough."""
        return replace(self, margin=0.0)

    def shortfall(self, probabilities: Tensor, target: Tensor) -> Tensor:
        """Return how much is lacking, ``(i, c)``; zero exactly where the target is reached."""
        own = target_probability(probabilities, target)
        if self.threshold is None:
            lacking = self._before_rivals(probabilities, own, target)
        else:
            lacking = self._past_threshold(probabilities[..., 1], target, self.threshold)
        reached = decide(probabilities, self.threshold) == target[:, None]
        enough = reached & (lacking <= SHORTFALL_ROUNDING)  # 0.4 + 0.2 is more than 0.6
        lacking = torch.where(enough, 0.0, lacking.clamp(min=SHORTFALL_ROUNDING))
        if self.min_probability is not None:
            lacking = torch.maximum(lacking, self.min_probability - own)
        return lacking.clamp(min=0)

    def odds_beyond(self, probabilities: Tensor, target: Tensor) -> Tensor:
        """Return by how many log-odds the decision is passed, ``(i, c)``; below 0 it is not.

        The margin does not count: it is there for doubts like those that are measured with these
        log-odds. A least probability does.
        """
        own = target_probability(probabilities, target)
        if self.threshold is None:
            rival = probabilities.scatter(-1, target_index(target, probabilities), -1.0).amax(-1)
            past = _log(own) - _log(rival)
        else:
            past = _log_odds(probabilities[..., 1]) - _log_odds(own.new_tensor(self.threshold))
            past = torch.where(target[:, None] == 1, past, -past)
        if self.min_probability is not None:
            past = torch.minimum(
                past, _log_odds(own) - _log_odds(own.new_tensor(self.min_probability))
            )
        reached = self.without_margin().shortfall(probabilities, target) <= 0
        return torch.where(reached, past.clamp(min=0.0), past.clamp(max=-SHORTFALL_ROUNDING))

    def probabilities(self, n_classes: int) -> tuple[float, ...]:
        """Return the probability that is enough for each class as the target, for a person.

        Of more than two classes no probability is enough by itself: what counts is the lead, and
        the result is what was asked for beside it, or 0.
        """
        least = self.min_probability or 0.0
        if n_classes > 2:
            return (least,) * n_classes
        thresholds = (0.5, 0.5)
        if self.threshold is not None:
            thresholds = (1 - self.threshold, self.threshold)
        return tuple(max(min(1.0, threshold + self.margin), least) for threshold in thresholds)

    def lead(self, n_classes: int) -> float | None:
        """Return by how much the target must lead the likeliest other class.

        The lead is ``None`` for two classes, where the probability of the target says it all.
        """
        return 2 * self.margin if n_classes > 2 else None

    def _before_rivals(self, probabilities: Tensor, own: Tensor, target: Tensor) -> Tensor:
        """Return what the target lacks before the best other class."""
        rival = probabilities.scatter(-1, target_index(target, probabilities), -1.0).amax(-1)
        lacking = rival + 2 * self.margin - own
        return lacking / 2 if probabilities.shape[-1] == 2 else lacking

    def _past_threshold(self, second: Tensor, target: Tensor, threshold: float) -> Tensor:
        """Return what the probability of the second class lacks on the target's side."""
        upper, lower = min(1.0, threshold + self.margin), max(0.0, threshold - self.margin)
        return torch.where(target[:, None] == 1, upper - second, second - lower)


def _log(probability: Tensor) -> Tensor:
    return probability.double().clamp(min=_MIN_PROBABILITY).log()


def _log_odds(probability: Tensor) -> Tensor:
    return probability.double().clamp(_MIN_PROBABILITY, 1 - _MIN_PROBABILITY).logit()
