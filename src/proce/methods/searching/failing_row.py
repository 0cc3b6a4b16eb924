"""A model that fails in the middle of a search: the error names the row and the candidate."""

from dataclasses import dataclass

import numpy as np

from proce.arrays import Array, flatten
from proce.errors import ModelError
from proce.explanation.words.cells import plain_value
from proce.objective import CounterfactualProblem, RunningProblem
from proce.search import Evaluation

_MAX_VALUES = 8  # of a candidate, in a message


@dataclass(frozen=True, eq=False)
class NamesFailingRow:
    """The problem of some rows, whose errors name the row on which the model failed.

    Attributes
    ----------
    running
        The problem that is evaluated.
    positions
        ``(i,)``, the position of each instance in the frame that is explained.
    """

    running: RunningProblem
    positions: Array

    def __call__(self, genes: Array, instances: Array) -> Evaluation:
        """Evaluate genes ``(i, c, g)`` of the instances at these positions."""
        try:
            return self.running(genes, instances)
        except ModelError as error:
            part = self.running.problem.take(instances)
            name_failing_row(part, part.realise(genes).point, self.positions[instances], error)
            raise


def name_failing_row(
    problem: CounterfactualProblem, candidates: Array, positions: Array, error: ModelError
) -> None:
    """Put the row and the candidate on which the model failed into an error's message.

    Nothing is named where the model answers this time, because its answers depend on more than
    the candidate.

    Parameters
    ----------
    problem
        The problem that was evaluated.
    candidates
        ``(i, c, f)``, the candidates of which one failed.
    positions
        ``(i,)``, the position of each row in the frame that is explained.
    error
        What was raised.
    """
    n_candidates = candidates.shape[1]
    owner = np.repeat(np.arange(len(candidates)), n_candidates)
    flat = flatten(candidates, 0, 1)
    first, cause = _first_failure(problem.take(owner), flat)
    if cause is not None:
        row, values = int(positions[first // n_candidates]), _values_text(problem, flat[first])
        error.args = (f"row {row}, a candidate with {values}: {cause}",)


def _first_failure(
    problem: CounterfactualProblem, candidates: Array
) -> tuple[int, ModelError | None]:
    """Halve candidates ``(n, f)`` down to one on which the model fails; return its error."""
    low, high = 0, len(candidates)
    while high - low > 1:
        middle = (low + high) // 2
        if _error(problem, candidates, low, middle) is None:
            low = middle
        else:
            high = middle
    return low, _error(problem, candidates, low, high)


def _values_text(problem: CounterfactualProblem, candidate: Array) -> str:
    codec = problem.codec
    values = zip(codec.schema, codec.to_raw(candidate).tolist(), strict=True)
    texts = [f"{feature.name}={plain_value(feature, value)!r}" for feature, value in values]
    return ", ".join(texts[:_MAX_VALUES]) + ", …" * (len(texts) > _MAX_VALUES)


def _error(
    problem: CounterfactualProblem, candidates: Array, first: int, last: int
) -> ModelError | None:
    """Return how the model fails on some of the candidates ``(n, f)``, one for each instance."""
    try:
        problem.take(np.arange(first, last)).ask(candidates[first:last, None])
    except ModelError as error:
        return error
    return None
