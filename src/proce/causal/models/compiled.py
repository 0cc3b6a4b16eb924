"""What follows from actions, by kernels: the twins of the tensors beside it.

An effect whose equation is not compiled is asked of the tensors in between.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from proce.causal.models.actions import Actions
from proce.causal.programs.program import Program
from proce.compiled.engine import use_kernels

Outcome = Callable[[int, Sequence[Tensor], Tensor], tuple[Tensor, Tensor]]
_NO_FLAGS = np.empty((0, 0, 0), np.bool_)
_NO_VALUES = np.empty((0, 0, 0))


def runs_compiled(*tensors: Tensor) -> bool:
    """Return whether kernels can take these tensors: float64 on the CPU without a gradient."""
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        return False
    return all(
        tensor.dtype == torch.float64 and tensor.device.type == "cpu" for tensor in tensors
    ) and use_kernels(tensors[0].device)


def separate_compiled(
    program: Program,
    outcome: Outcome,
    factual: Tensor,
    rows: Tensor,
    residual: Tensor,
    acting: Tensor | None = None,
) -> Actions:
    """Tell actions, holds and consequences apart, as :func:`proce.causal.models.actions.separate`.

    Parameters
    ----------
    program
        The equations of one model.
    outcome
        :meth:`StructuralCausalModel.outcome`, for effects that are not compiled.
    factual, rows, residual, acting
        ``(i, f)``, ``(i, c, f)``, ``(i, w)`` and flags ``(i, c, f)``.
    """
    from proce.causal.programs.kernels import separate

    n_rows, _, n_features = rows.shape
    point, expected = rows.new_empty(rows.shape), rows.new_empty(rows.shape)
    flags = [torch.empty(rows.shape, dtype=torch.bool) for _ in range(4)]
    columns, noise = point.unbind(-1), residual[:, None]
    inputs = (
        _array(factual.broadcast_to(n_rows, n_features)),
        _array(rows),
        _array(residual.broadcast_to(n_rows, residual.shape[-1])),
        _NO_FLAGS if acting is None else _array(acting.broadcast_to(rows.shape)),
    )
    outputs = [tensor.numpy() for tensor in (point, expected, *flags)]
    given, follows = _NO_VALUES, _NO_FLAGS
    for run, (start, stop) in enumerate(program.segments):
        if run > 0:
            given, follows = _asked(program, outcome, start, columns, noise)
        separate(
            program.effects,
            program.parents,
            program.weights,
            program.tolerances,
            start,
            stop,
            *inputs,
            given,
            follows,
            *outputs,
        )
    acted_on, held, consequence, outside = flags
    return Actions(point, acted_on, held, consequence, expected, outside)


def propagate_compiled(
    program: Program, outcome: Outcome, rows: Tensor, residual: Tensor, acted_on: Tensor
) -> Tensor:
    """Return where rows lead to in each model of a program, ``(m, i, c, f)`` or ``(m, i, f)``.

    Parameters
    ----------
    program
        The equations of one or several models.
    outcome
        :meth:`StructuralCausalModel.outcome` of all of them, for effects that are not compiled.
    rows, acted_on
        ``(i, c, f)`` or ``(i, f)``; see :meth:`StructuralCausalModel.propagate`.
    residual
        ``(m, i, w)``, the noise of the rows in each model.
    """
    from proce.causal.programs.kernels import propagate

    if rows.ndim == 2:
        candidates, flags = rows[:, None], acted_on[:, None]
        return propagate_compiled(program, outcome, candidates, residual, flags)[:, :, 0]
    n_models = len(program.effects)
    outcomes = rows.new_empty(n_models, *rows.shape)
    columns, noise = outcomes.unbind(-1), residual[:, :, None]
    inputs = (
        _array(rows),
        _array(residual.broadcast_to(n_models, len(rows), residual.shape[-1])),
        _array(acted_on),
    )
    given, follows = _NO_VALUES, _NO_FLAGS
    for run, (start, stop) in enumerate(program.segments):
        if run > 0:
            given, follows = _asked(program, outcome, start, columns, noise)
        propagate(
            program.effects,
            program.parents,
            program.weights,
            program.tolerances,
            start,
            stop,
            *inputs,
            given,
            follows,
            outcomes.numpy(),
        )
    return outcomes


def _asked(
    program: Program, outcome: Outcome, place: int, columns: Sequence[Tensor], noise: Tensor
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return what tensors say of an effect, and where, both ``(m, i, c)``."""
    position = int(program.effects["position"][0, place])
    value, follows = outcome(position, columns, noise)
    shape = columns[position].shape
    both = (part.broadcast_to(shape).reshape(-1, *shape[-2:]) for part in (value, follows))
    given, flags = map(_array, both)
    return given, flags


def _array(tensor: Tensor) -> NDArray[Any]:
    return tensor.detach().contiguous().numpy()
