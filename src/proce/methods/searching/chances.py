"""What advice lacks until it is sure to work, where the true equations or models are not known.

Equations are fitted on some rows and differ from the true ones. What the refits on rows drawn anew
come to says by how much: a candidate that just reaches the decision fails in many of them.
"""

from typing import Any

import numpy as np

from proce.arrays import Array
from proce.causal import Actions
from proce.objective import CounterfactualProblem
from proce.objective.doubts.doubt import missing_chance

_SLACK = 0.02  # shaky candidates whose chances differ by no more count as equally likely to work


def missing_chances(problem: CounterfactualProblem, realised: Actions, asked: Array) -> Array:
    """Return what candidates ``(i, c)`` lack to the chances that the doubts of a problem ask for.

    The result is 0 for a candidate that is sure to work, and infinite for one that is too unlikely
    to be advice, or that was not asked about.

    Parameters
    ----------
    problem, realised
        The problem, and the candidates as a person would see them.
    asked
        ``(i, c)``, the candidates whose chances count.
    """
    missing, is_advice = missing_chance(problem, realised, problem.doubts, asked)
    return np.where(is_advice, missing, np.inf)


def is_better(missing: Array, distance: Array, than: Array, than_distance: Array) -> Array:
    """Return flags where advice is surer than other advice, or as sure and closer.

    Parameters
    ----------
    missing, distance
        What the advice lacks until it is sure, infinite where there is none, and how far it is.
    than, than_distance
        The same of the other advice.
    """
    surer = (missing < than) & ~as_sure(than, missing)
    is_closer = np.isfinite(missing) & (distance < than_distance)
    return surer | (as_sure(missing, than) & is_closer)


def as_sure(missing: Any, than: Any) -> Any:
    """Return whether what lacks so much is no less sure than what lacks ``than``.

    Nothing shaky is as sure as what is sure. Kernels ask it of one candidate.
    """
    return (missing <= than) | (than > 0) & (missing <= than + _SLACK)
