"""Candidates as what is done by hand in them, and what they are worth.

The search varies genes. What improves its candidates afterwards works on actions: a row, and flags
for the cells that are done or held; all else follows.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from proce.arrays import Array, blocks, flatten, with_rows
from proce.causal import Actions
from proce.compiled.copies import first_of_each
from proce.errors import ModelError
from proce.explanation.words.cells import plain_value
from proce.losses import Loss
from proce.objective import CounterfactualProblem
from proce.objective.problem import are_sound
from proce.search import Evaluation

BLOCK_CELLS = 4_000_000  # cells of rows that are tried at once; this bounds the memory
_MAX_VALUES = 8  # of a candidate, in a message


@dataclass(frozen=True, eq=False)
class CandidateBatch:
    """Candidates ``(i, c)`` that were tried."""

    rows: Array  # (i, c, f), the candidates with all that follows
    by_hand: Array  # (i, c, f), what is done or held
    expected: Array  # (i, c, f), where each feature would be if it were neither acted on nor held
    # prediction, distance, violation: (i, c), two of the losses, and how far from feasible a
    # candidate is
    prediction: Array
    distance: Array
    violation: Array

    @classmethod
    def of(cls, realised: Actions, scored: Evaluation) -> "CandidateBatch":
        """Return realised candidates with what they are worth."""
        return cls(
            realised.point,
            realised.by_hand,
            realised.expected,
            scored.losses[..., Loss.PREDICTION],
            scored.losses[..., Loss.DISTANCE],
            scored.violation,
        )

    @property
    def is_feasible(self) -> Array:
        """Whether a candidate does something, has its target and obeys all rules and limits."""
        return are_sound(self.violation, self.by_hand.sum(-1), self.prediction, self.distance)

    @property
    def feasible_distance(self) -> Array:
        """The distance, infinite where a candidate is not feasible, ``(i, c)``."""
        return np.where(self.is_feasible, self.distance, np.inf)

    @property
    def columns(self) -> tuple[Array, ...]:
        """All attributes, in their order."""
        return tuple(vars(self).values())

    def _each(self, change: Callable[[Array], Array]) -> "CandidateBatch":
        """Return the candidates with something done to every attribute."""
        return CandidateBatch(*map(change, self.columns))

    def take(self, positions: Array) -> "CandidateBatch":
        """Return the candidates at positions ``(i, s)``, of each row its own."""
        instances = np.arange(len(positions))[:, None]
        return self._each(lambda column: column[instances, positions])

    def take_range(self, first: int, last: int) -> "CandidateBatch":
        """Return the candidates of each row from position ``first`` up to before ``last``."""
        return self._each(lambda column: column[:, first:last])

    def take_rows(self, instances: Array) -> "CandidateBatch":
        """Return the candidates of some of the rows, given by position."""
        return self._each(lambda column: column[instances])

    def flatten(self) -> tuple["CandidateBatch", Array]:
        """Return every candidate as the only one ``(n, 1)`` of its row, and the rows ``(n,)``."""
        n_rows, n_candidates = self.violation.shape
        alone = self._each(lambda column: flatten(column, 0, 1)[:, None])
        return alone, np.repeat(np.arange(n_rows), n_candidates)

    def unflatten(self, n_rows: int) -> "CandidateBatch":
        """Return what :meth:`flatten` took apart, of so many rows."""
        return self._each(lambda column: column[:, 0].reshape(n_rows, -1, *column.shape[2:]))

    def nearest(self, n: int) -> "CandidateBatch":
        """Return the ``n`` feasible candidates of each row with the lowest distance, at most."""
        order = np.argsort(self.feasible_distance, axis=1, kind="stable")
        return self.take(order[:, :n])

    def without_copies(self) -> "CandidateBatch":
        """Return the candidates, those that equal an earlier one of their row infeasible.

        What differs by rounding is worked on; which of that is shown is decided where it is chosen.
        """
        is_first = first_of_each(self.rows, np.ones_like(self.violation, dtype=np.bool_))
        return replace(self, violation=np.where(is_first, self.violation, np.inf))

    def infeasible(self) -> "CandidateBatch":
        """Return the candidates as ones that do not count."""
        return replace(self, violation=np.full_like(self.violation, np.inf))

    def with_rows(self, instances: Array, other: "CandidateBatch") -> "CandidateBatch":
        """Return these candidates, those of some rows replaced by as many others."""
        columns = zip(self.columns, other.columns, strict=True)
        return CandidateBatch(*(with_rows(ours, instances, theirs) for ours, theirs in columns))

    def chosen_where(self, flags: Array, other: "CandidateBatch") -> "CandidateBatch":
        """Return these candidates where ``flags (i, c)`` are set, else those of the other."""
        columns = zip(self.columns, other.columns, strict=True)
        return CandidateBatch(
            *(
                np.where(flags if ours.ndim == 2 else flags[..., None], ours, theirs)
                for ours, theirs in columns
            )
        )


def concatenate(parts: list[CandidateBatch]) -> CandidateBatch:
    """Return the candidates of several groups side by side."""
    columns = zip(*(part.columns for part in parts), strict=True)
    return CandidateBatch(*(np.concatenate(column, axis=1) for column in columns))


def adopt_closer(
    best: CandidateBatch,
    places: Array,
    variants: CandidateBatch,
    least_gain: float,
    *,
    shorter: bool = False,
) -> tuple[CandidateBatch, Array]:
    """Return candidates with their closest feasible variants where these are closer, and where.

    Shapes: places ``(m,)``, variants ``(m, v)``.
    """
    current, n_actions = best.take_rows(places), variants.by_hand.sum(-1)
    most = current.by_hand.sum(-1) - 1 if shorter else variants.by_hand.shape[-1]
    is_better = (variants.distance < current.distance - least_gain) & (n_actions <= most)
    distance = np.where(is_better, variants.feasible_distance, np.inf)
    closest = distance.argmin(1)[:, None]
    better = np.flatnonzero(np.isfinite(distance).any(1))
    adopted = (column[better[:, None], closest[better]] for column in variants.columns)
    return best.with_rows(places[better], CandidateBatch(*adopted)), places[better]


def evaluate(problem: CounterfactualProblem, rows: Array, by_hand: Array) -> CandidateBatch:
    """Return what rows ``(i, c, f)`` come to, and are worth, where some cells are done by hand."""
    n_at_once = max(1, BLOCK_CELLS // max(1, rows[0].size))
    if len(rows) > n_at_once:
        parts = [
            evaluate(problem.take(some), rows[some], by_hand[some])
            for some in blocks(np.arange(len(rows)), n_at_once)
        ]
        columns = zip(*(part.columns for part in parts), strict=True)
        return CandidateBatch(*(np.concatenate(column) for column in columns))
    realised = problem.realise_by_hand(rows, by_hand)
    with naming_failing_row(problem, realised.point):
        scored = problem.score(realised, with_prototype=False)
    return CandidateBatch.of(realised, scored)


def evaluate_genes(problem: CounterfactualProblem, genes: Array) -> CandidateBatch:
    """Return what genes ``(i, c, g)`` come to, and are worth."""
    realised = problem.realise(genes)
    with naming_failing_row(problem, realised.point):
        scored = problem.score(realised, with_prototype=False)
    return CandidateBatch.of(realised, scored)


@contextmanager
def naming_failing_row(problem: CounterfactualProblem, candidates: Array) -> Iterator[None]:
    """Put the row and the candidate ``(i, c, f)`` on which a model fails into its error's message.

    Nothing is named where the model answers when it is asked again, since its answers depend on
    more than the candidate, or where nobody knows the rows' positions in the caller's frame.
    """
    try:
        yield
    except ModelError as error:
        positions, n_candidates = problem.batch.positions, candidates.shape[1]
        if positions is not None:
            owner = np.repeat(np.arange(len(candidates)), n_candidates)
            flat = flatten(candidates, 0, 1)
            first, cause = _first_failure(problem.take(owner), flat)
            if cause is not None:
                row, values = (
                    int(positions[first // n_candidates]),
                    _values_text(problem, flat[first]),
                )
                error.args = (f"row {row}, a candidate with {values}: {cause}",)
        raise


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
