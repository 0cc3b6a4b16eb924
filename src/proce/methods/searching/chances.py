"""What advice lacks until it is sure to work, where the true equations or models are not known.

Equations are fitted on some rows and differ from the true ones. What the refits on rows drawn anew
come to says by how much: a candidate that just reaches the decision fails in many of them.
"""

import torch
from torch import Tensor

from proce.causal import Actions
from proce.objective import CounterfactualProblem, chance_among

SURE = 0.98  # advice that works with a smaller chance when equations are fitted again is shaky
MIN_CHANCE = 0.5  # what works with a smaller chance is no advice
SLACK = 0.02  # shaky candidates whose chances differ by no more count as equally likely to work


def missing_chances(problem: CounterfactualProblem, realised: Actions, asked: Tensor) -> Tensor:
    """Return what candidates ``(i, c)`` lack to the chance that the doubts of a problem ask for.

    Of several doubts the one counts to which a candidate lacks most. The result is 0 for a
    candidate that is sure to work, and infinite for one that is too unlikely to be advice, or that
    was not asked about.

    Parameters
    ----------
    problem, realised
        The problem, and the candidates as a person would see them.
    asked
        ``(i, c)``, the candidates whose chances count.
    """
    missing, is_advice = torch.zeros_like(realised.point[..., 0]), asked
    for doubt in problem.doubts:
        chance = chance_among(problem, realised, doubt, asked)
        missing = torch.maximum(missing, doubt.least - chance)
        is_advice = is_advice & (chance >= MIN_CHANCE)
    return missing.where(is_advice, torch.inf)


def surest(missing: Tensor) -> Tensor:
    """Return flags ``(…, p)`` for the candidates to prefer: sure ones, or nearly the best.

    Where none is sure, candidates count that lack the least, or little more. Candidates that lack
    an infinite chance do not count.
    """
    if not missing.numel():
        return torch.zeros_like(missing, dtype=torch.bool)
    least = missing.amin(-1, keepdim=True)
    return (missing <= least.where(least <= 0, least + SLACK)) & missing.isfinite()


def outdone(by_hand: Tensor, missing: Tensor) -> Tensor:
    """Return flags ``(…, p)`` for the candidates that are a sure one with weaker numbers.

    They lack something until they are sure to work, and a sure one acts on the same features.

    Parameters
    ----------
    by_hand
        ``(…, p, f)``, the features that each candidate acts on or holds.
    missing
        ``(…, p)``, what each candidate lacks until it is sure to work.
    """
    is_sure = missing <= 0
    return (same_actions(by_hand) & is_sure[..., None, :]).any(-1) & ~is_sure


def same_actions(by_hand: Tensor) -> Tensor:
    """Return flags ``(…, p, p)`` for the pairs that act on or hold the same ``(…, p, f)``."""
    acts = by_hand.float()
    shared, count = acts @ acts.mT, acts.sum(-1)
    return (shared == count[..., :, None]) & (shared == count[..., None, :])


def is_better(missing: Tensor, distance: Tensor, than: Tensor, than_distance: Tensor) -> Tensor:
    """Return flags where advice is surer than other advice, or as sure and closer.

    Parameters
    ----------
    missing, distance
        What the advice lacks until it is sure, infinite where there is none, and how far it is.
    than, than_distance
        The same of the other advice.
    """
    surer = (missing < than) & ((missing <= 0) | (missing < than - SLACK))
    both_shaky = (missing > 0) & (than > 0) & (missing <= than + SLACK)
    as_sure = missing.isfinite() & ((missing == than) | both_shaky)
    return surer | (as_sure & (distance < than_distance))
