"""Candidates as what is done by hand in them, and what they are worth.

The search varies genes. What improves its candidates afterwards works on actions: a row, and flags
for the cells that are done or held; all else follows.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from proce.causal import Actions
from proce.compiled.arrays import as_array
from proce.compiled.engine import use_kernels
from proce.devices import bytes_free
from proce.errors import ModelError
from proce.losses import Loss
from proce.methods.searching.failing_row import name_failing_row
from proce.objective import CounterfactualProblem
from proce.streams import hash_values

_BLOCK_CELLS = 4_000_000  # cells of rows that are tried at once; this bounds the memory
_CELLS_PER_BYTE = 1 / 1024  # of a device's free memory: with what is worked out on the way


@dataclass(frozen=True, eq=False)
class Trials:
    """Candidates ``(i, c)`` that were tried.

    Attributes
    ----------
    rows
        ``(i, c, f)``, the candidates with all that follows.
    by_hand
        ``(i, c, f)``, what is done or held.
    expected
        ``(i, c, f)``, where each feature would be if it were neither acted on nor held.
    prediction, distance, violation
        ``(i, c)``, two of the losses, and how far from feasible a candidate is.
    """

    rows: Tensor
    by_hand: Tensor
    expected: Tensor
    prediction: Tensor
    distance: Tensor
    violation: Tensor

    @property
    def is_feasible(self) -> Tensor:
        """Whether a candidate does something, has its target and obeys all rules and limits."""
        finite = self.prediction.isfinite() & self.distance.isfinite()
        return (self.violation <= 0) & finite & self.by_hand.any(-1)

    @property
    def feasible_distance(self) -> Tensor:
        """The distance, infinite where a candidate is not feasible, ``(i, c)``."""
        return self.distance.where(self.is_feasible, torch.inf)

    def take(self, positions: Tensor) -> "Trials":
        """Return the candidates at positions ``(i, s)``, of each row its own."""
        wide = positions[..., None].expand(-1, -1, self.rows.shape[-1])
        return Trials(
            *(column.gather(1, positions if column.ndim == 2 else wide) for column in self.columns)
        )

    def each_alone(self) -> tuple["Trials", Tensor]:
        """Return every candidate as the only one ``(n, 1)`` of its row, and the rows ``(n,)``."""
        n_rows, n_candidates = self.violation.shape
        alone = Trials(*(column.flatten(0, 1)[:, None] for column in self.columns))
        return alone, torch.arange(n_rows).repeat_interleave(n_candidates)

    def side_by_side(self, n_rows: int) -> "Trials":
        """Return what :meth:`each_alone` took apart, of so many rows."""
        return Trials(*(c[:, 0].reshape(n_rows, -1, *c.shape[2:]) for c in self.columns))

    def without_copies(self) -> "Trials":
        """Return the candidates, those that are like an earlier one of their row infeasible."""
        keys = hash_values(self.rows.nan_to_num(nan=-9.0))
        same = (keys[:, :, None] == keys[:, None]).tril(diagonal=-1).any(-1)
        return replace(self, violation=self.violation.masked_fill(same, torch.inf))

    def infeasible(self) -> "Trials":
        """Return the candidates as ones that do not count."""
        return replace(self, violation=torch.full_like(self.violation, torch.inf))

    def take_range(self, first: int, last: int) -> "Trials":
        """Return the candidates of each row from position ``first`` up to before ``last``."""
        return Trials(*(column[:, first:last] for column in self.columns))

    def take_rows(self, instances: Tensor) -> "Trials":
        """Return the candidates of some of the rows, given by position."""
        return Trials(*(column[instances] for column in self.columns))

    def with_rows(self, instances: Tensor, other: "Trials") -> "Trials":
        """Return these candidates, those of some rows replaced by as many others."""
        columns = zip(self.columns, other.columns, strict=True)
        return Trials(*(ours.index_copy(0, instances, theirs) for ours, theirs in columns))

    def where(self, flags: Tensor, other: "Trials") -> "Trials":
        """Return these candidates where ``flags (i, c)`` are set, else those of the other."""
        columns = zip(self.columns, other.columns, strict=True)
        return Trials(
            *(
                torch.where(flags if ours.ndim == 2 else flags[..., None], ours, theirs)
                for ours, theirs in columns
            )
        )

    def nearest(self, n: int) -> "Trials":
        """Return the ``n`` feasible candidates of each row with the lowest distance, at most."""
        order = self.feasible_distance.argsort(dim=1, stable=True)
        return self.take(order[:, :n])

    @property
    def columns(self) -> tuple[Tensor, ...]:
        """All attributes, in their order."""
        return (
            self.rows,
            self.by_hand,
            self.expected,
            self.prediction,
            self.distance,
            self.violation,
        )


def concatenate(parts: list[Trials]) -> Trials:
    """Return the candidates of several groups side by side."""
    columns = zip(*(part.columns for part in parts), strict=True)
    return Trials(*(torch.cat(column, dim=1) for column in columns))


def adopt_closer(
    best: Trials, places: Tensor, variants: Trials, least_gain: float, *, shorter: bool = False
) -> tuple[Trials, Tensor]:
    """Return candidates with their closest feasible variants where these are closer, and where.

    Parameters
    ----------
    best
        Candidates ``(n, 1)``.
    places
        ``(m,)``, the positions of those that have variants.
    variants
        ``(m, v)``; of equally close ones the first is taken.
    least_gain
        By how much a variant must be closer; minus infinity for any distance.
    shorter
        Whether a variant must have fewer actions.

    Returns
    -------
    tuple[Trials, Tensor]
        All candidates, and the positions of those that were replaced.
    """
    if use_kernels(places.device):
        return _adopt_compiled(best, places, variants, least_gain, shorter)
    distance = variants.feasible_distance
    if shorter:
        fewer = variants.by_hand.sum(-1) < best.by_hand[places].sum(-1)
        distance = distance.where(fewer, torch.inf)
    closest, which = distance.min(-1)
    is_better = closest.isfinite() & (closest < best.distance[places, 0] - least_gain)
    better = torch.nonzero(is_better).flatten()
    replaced = places[better]
    return best.with_rows(replaced, variants.take(which[:, None]).take_rows(better)), replaced


def _adopt_compiled(
    best: Trials, places: Tensor, variants: Trials, least_gain: float, shorter: bool
) -> tuple[Trials, Tensor]:
    from proce.methods.searching.kernels.variants import adopt_closest

    rows, by_hand, expected, *losses = (column.numpy().copy() for column in best.columns)
    prediction, distance, violation = losses
    better = np.empty(len(places), np.bool_)
    adopt_closest(
        as_array(variants.rows),
        as_array(variants.by_hand),
        as_array(variants.expected),
        as_array(variants.prediction),
        as_array(variants.distance),
        as_array(variants.violation),
        as_array(places),
        least_gain,
        shorter,
        rows,
        by_hand,
        expected,
        prediction,
        distance,
        violation,
        better,
    )
    copies = (rows, by_hand, expected, prediction, distance, violation)
    return Trials(*map(torch.from_numpy, copies)), places[torch.from_numpy(better)]


def cells_at_once(device: torch.device) -> int:
    """Return how many cells of rows are tried at once on a device."""
    free = bytes_free(device)
    return _BLOCK_CELLS if free is None else max(_BLOCK_CELLS, int(free * _CELLS_PER_BYTE))


def try_out(problem: CounterfactualProblem, rows: Tensor, by_hand: Tensor) -> Trials:
    """Try candidates.

    Parameters
    ----------
    problem
        The search problem.
    rows, by_hand
        ``(i, c, f)``: the values of what is done by hand, and which cells that are.
    """
    n_at_once = max(1, cells_at_once(rows.device) // max(1, rows[0].numel()))
    if len(rows) > n_at_once:
        blocks = torch.split(torch.arange(len(rows)), n_at_once)
        parts = [try_out(problem.take(block), rows[block], by_hand[block]) for block in blocks]
        columns = zip(*(part.columns for part in parts), strict=True)
        return Trials(*(torch.cat(column) for column in columns))
    evaluation = problem.evaluation
    tried = None if evaluation is None else evaluation.of_actions(rows, by_hand)
    if tried is None:
        return assess(problem, problem.realise_by_hand(rows, by_hand))
    prediction, distance = tried.losses[..., Loss.PREDICTION], tried.losses[..., Loss.DISTANCE]
    return Trials(tried.point, tried.by_hand, tried.expected, prediction, distance, tried.violation)


def assess(problem: CounterfactualProblem, realised: Actions) -> Trials:
    """Return what realised candidates are worth."""
    try:
        scored = problem.score(realised, with_prototype=False)
    except ModelError as error:
        if problem.query.positions is not None:
            name_failing_row(problem, realised.point, problem.query.positions, error)
        raise
    return Trials(
        realised.point,
        realised.by_hand,
        realised.expected,
        scored.losses[..., Loss.PREDICTION],
        scored.losses[..., Loss.DISTANCE],
        scored.violation,
    )
