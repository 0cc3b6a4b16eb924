"""Where a model failed in the middle of a search: for which row, asked about what."""

from dataclasses import dataclass

from torch import Tensor

from proce.errors import ModelError
from proce.explanation.words.cells import plain
from proce.objective import CounterfactualProblem
from proce.search import Evaluation

_MOST_VALUES = 8  # of a candidate, in a message


@dataclass(frozen=True, eq=False)
class NamesFailingRow:
    """The problem of some rows; what its model raises leaves with the row named.

    Attributes
    ----------
    problem
        Evaluates.
    rows
        ``(i,)``, the position of each instance in the frame that is explained.
    """

    problem: CounterfactualProblem
    rows: Tensor

    def __call__(self, genes: Tensor, instances: Tensor) -> Evaluation:
        """Evaluate genes ``(i, c, g)`` of the instances at these positions."""
        try:
            return self.problem(genes, instances)
        except ModelError as error:
            candidates = self.problem.take(instances).realise(genes).point  # (i, c, f)
            at, alone = self._narrowed(candidates.flatten(0, 1))
            if alone is None:
                raise
            row = int(self.rows[instances[at // candidates.shape[1]]])
            told = self._told(candidates.flatten(0, 1)[at])
            error.args = (f"row {row}, a candidate with {told}: {alone}",)
            raise

    def _narrowed(self, candidates: Tensor) -> tuple[int, ModelError | None]:
        """Halve the candidates ``(n, f)`` down to one that the model fails on, and its error.

        No error where the model answers now: it does not depend on its input alone.
        """
        low, high = 0, len(candidates)
        while high - low > 1:
            middle = (low + high) // 2
            if self._error(candidates[low:middle]) is None:
                low = middle
            else:
                high = middle
        return low, self._error(candidates[low:high])

    def _error(self, candidates: Tensor) -> ModelError | None:
        try:
            self.problem.classifier.predict_proba(candidates)
        except ModelError as error:
            return error
        return None

    def _told(self, candidate: Tensor) -> str:
        codec = self.problem.codec
        values = zip(codec.schema, codec.to_raw(candidate).tolist(), strict=True)
        told = [f"{feature.name}={plain(feature, value)!r}" for feature, value in values]
        return ", ".join(told[:_MOST_VALUES]) + ", …" * (len(told) > _MOST_VALUES)
