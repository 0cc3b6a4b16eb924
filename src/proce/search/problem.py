"""The problem that is searched: a function from genes to losses and a violation."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from proce.arrays import Array, Flags, Floats
from proce.compiled.kernel import kernel
from proce.errors import ProceError, SearchError


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The losses and the violation of some candidates.

    Attributes
    ----------
    losses
        ``(i, c, k)``, all minimised.
    violation
        ``(i, c)``; a candidate is feasible where it is zero or less.

    A candidate with a loss or a violation that is not finite loses to every other one.
    """

    losses: Array
    violation: Array


class Problem(Protocol):
    """Evaluates candidates; called once per generation, for all instances still running."""

    def __call__(self, genes: Array, instances: Array) -> Evaluation:
        """Evaluate genes ``(i, c, g)``; must not write into them.

        Parameters
        ----------
        genes
            The candidates.
        instances
            ``(i,)``, the position of each instance among those that the search was given.
        """
        ...


def evaluate(problem: Problem, genes: Array, instances: Array, generation: int) -> Evaluation:
    """Evaluate candidates and check the shapes; an exception is marked with the generation."""
    try:
        evaluation = problem(genes, instances)
    except ProceError as error:
        error.args = (f"generation {generation} of the search: {error}",)
        raise
    except Exception as error:
        error.add_note(f"raised while generation {generation} of the search was evaluated")
        raise
    losses, violation = evaluation.losses, evaluation.violation
    shape = genes.shape[:2]
    if losses.ndim != 3 or losses.shape[:2] != shape or violation.shape != shape:
        raise SearchError(
            f"generation {generation}: the problem returned losses of shape {tuple(losses.shape)}"
            f" and a violation of shape {tuple(violation.shape)} for {shape[0]} instances of"
            f" {shape[1]} candidates; expected ({shape[0]}, {shape[1]}, objectives) and"
            f" ({shape[0]}, {shape[1]})."
        )
    return _clean(losses, violation)


def _clean(losses: Array, violation: Array) -> Evaluation:
    """Return losses and violation, +inf throughout where one of them is not finite."""
    losses = np.ascontiguousarray(losses, np.float64)
    violation = np.ascontiguousarray(violation, np.float64)
    finite = np.empty(violation.shape, np.bool_)
    if find_finite(losses, violation, finite):
        return Evaluation(losses, violation)  # nearly always so
    return Evaluation(
        np.where(finite[..., None], losses, np.inf), np.where(finite, violation, np.inf)
    )


@kernel
def find_finite(losses: Floats, violation: Floats, finite: Flags) -> bool:
    """Write which candidates have finite losses ``(i, c, k)`` and violations; return if all do."""
    n_finite = 0
    for i in range(len(losses)):
        for c in range(losses.shape[1]):
            is_finite = np.isfinite(violation[i, c])
            for o in range(losses.shape[2]):
                is_finite &= np.isfinite(losses[i, c, o])
            finite[i, c] = is_finite
            n_finite += is_finite
    return n_finite == violation.size
