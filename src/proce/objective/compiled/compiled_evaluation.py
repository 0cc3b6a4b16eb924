"""From what is asked for to losses by kernels alone, where every part of a problem has one.

The arithmetic is that of :class:`proce.objective.problem.CounterfactualProblem`, bit for bit; what
is saved is the tensors between the kernels, which cost a single row more than the work itself.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from proce.causal.programs.program import Program
from proce.compiled.arrays import as_array
from proce.compiled.row_network import RowNetworkArrays
from proce.losses import Loss
from proce.objective.compiled.compiled_terms import CompiledTerms
from proce.objective.wanted import MIN_DIFFERENCE

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
_NOT_GIVEN = np.empty((0, 0, 0), np.bool_)
_NO_FLAGS, _NO_VALUES = np.empty((0, 0), np.bool_), np.empty((0, 0))


class Tried(NamedTuple):
    """What became of candidates ``(i, c)``: rows, what is done, where all else would be, worth."""

    point: Tensor
    by_hand: Tensor
    expected: Tensor
    losses: Tensor
    violation: Tensor


@dataclass(frozen=True, eq=False)
class CompiledEvaluation:
    """What the kernels need to know of the rows of a problem, as arrays.

    Attributes
    ----------
    terms
        The terms that need no model.
    movable, switches, avoided
        ``(i, f)``, ``(f,)`` and ``(f, l)``: what may be acted on, the genes of the switches, and
        the levels that no action may lead to.
    program, residual
        The equations, all of them compiled, and the noise ``(i, w)``; ``None`` where nothing
        follows.
    largest
        ``(i, 1, f)``, the largest entries that the model is asked about.
    model, encoder, prototype
        The model and the encoder as arrays, and the prototypes ``(i, e)``.
    """

    terms: CompiledTerms
    movable: Flags
    switches: NDArray[np.int64]
    avoided: Flags
    program: Program | None
    residual: Floats
    largest: Floats
    model: RowNetworkArrays
    encoder: RowNetworkArrays
    prototype: NDArray[np.float32]

    def take(self, instances: Tensor) -> "CompiledEvaluation":
        """Return the evaluation of some of the rows, given by position."""
        rows = instances.numpy()
        return replace(
            self,
            terms=self.terms.take(instances),
            movable=self.movable[rows],
            residual=self.residual[rows],
            largest=self.largest[rows],
            prototype=self.prototype[rows],
        )

    def of_genes(self, genes: Tensor) -> tuple[Tensor, Tensor] | None:
        """Return losses ``(i, c, 3)`` and violation of genes; ``None`` if the model has no answer.

        The model may refuse a missing cell; who asks it in the usual way is told which.
        """
        reached = self._reach(as_array(genes), _NOT_GIVEN)
        scored = self._score(*reached)
        if scored is None:
            return None
        losses, violation = scored
        point, given = reached[0], np.empty(violation.size)
        kernels = _kernels()
        kernels.networks.mean_squared_offsets(
            point.reshape(-1, point.shape[-1]), *self.encoder.parts, self.prototype, given
        )
        losses[..., Loss.PROTOTYPE] = given.reshape(violation.shape)
        return torch.from_numpy(losses), torch.from_numpy(violation)

    def of_actions(self, rows: Tensor, by_hand: Tensor) -> Tried | None:
        """Return what becomes of rows ``(i, c, f)`` of which some cells are done by hand.

        The prototype loss is 0; the result is ``None`` if the model has no answer.
        """
        reached = self._reach(as_array(rows), as_array(by_hand))
        scored = self._score(*reached)
        if scored is None:
            return None
        point, expected, acted_on, held = reached
        arrays = (point, acted_on | held, expected, *scored)
        return Tried(*map(torch.from_numpy, arrays))

    def _reach(self, values: Floats, by_hand: Flags) -> tuple[Floats, Floats, Flags, Flags]:
        """Return where candidates lead: the point, what is expected, acted on and held."""
        kernels, factual = _kernels(), self.terms.factual
        shape = *values.shape[:2], factual.shape[1]
        rows, acting = np.empty(shape), np.empty(shape, np.bool_)
        given = (self.movable, self.switches, self.avoided)
        kernels.wanted.read_wanted(values, by_hand, factual, *given, rows, acting)
        if self.program is None:
            changed = np.empty(shape, np.bool_)
            kernels.wanted.mark_changes(rows, factual, MIN_DIFFERENCE, changed)
            own = np.broadcast_to(factual[:, None], shape).copy()
            return rows, own, changed, np.zeros(shape, np.bool_)
        lines = shape[0] * shape[1], shape[2]
        cells, flags = np.empty((2, *lines)), np.zeros((4, *lines), np.bool_)
        program = self.program
        kernels.equations.separate(
            program.effects,
            program.parents,
            program.weights,
            program.tolerances,
            *program.segments[0],
            shape[1],
            factual,
            rows.reshape(lines),
            self.residual,
            acting.reshape(lines),
            _NO_VALUES,
            _NO_FLAGS,
            cells,
            flags,
        )
        point, expected = cells.reshape(2, *shape)
        acted_on, held = flags[:2].reshape(2, *shape)
        return point, expected, acted_on, held

    def _score(
        self, point: Floats, expected: Floats, acted_on: Flags, held: Flags
    ) -> tuple[Floats, Floats] | None:
        """Return losses, but for the prototype's, and violation; ``None`` without an answer."""
        near = np.minimum(np.maximum(point, -self.largest), self.largest)
        chances = np.empty((near.shape[0] * near.shape[1], max(2, self.model.layers[-1, 1])))
        flat = near.reshape(-1, near.shape[-1])
        if not _kernels().networks.class_probabilities(flat, *self.model.parts, chances):
            return None
        chances = chances.reshape(*near.shape[:2], -1)
        return self.terms.score_arrays(point, expected, acted_on, held, chances)


class _Kernels(NamedTuple):
    wanted: Any
    equations: Any
    networks: Any


def _kernels() -> _Kernels:
    """Return the modules of the kernels, which import numba."""
    from proce.causal.programs import kernels
    from proce.compiled import row_network_kernels
    from proce.objective.kernels import wanted

    return _Kernels(wanted, kernels, row_network_kernels)
