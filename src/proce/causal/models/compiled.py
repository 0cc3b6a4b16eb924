"""What follows from actions, by kernels: the twins of the tensors beside it.

An effect whose equation is not compiled is asked of the tensors in between.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from proce.causal.models.actions import Actions
from proce.causal.programs.program import Program
from proce.compiled.engine import use_kernels
from proce.compiled.gpu.engine import use_triton

if TYPE_CHECKING:
    from proce.causal.programs.gpu.running import ProgramOnDevice

Outcome = Callable[[int, Sequence[Tensor], Tensor], tuple[Tensor, Tensor]]
NoiseOf = Callable[[int, Tensor, Tensor], Tensor]
_NO_FLAGS = np.empty((0, 0), np.bool_)
_NO_VALUES = np.empty((0, 0))


def can_run(*tensors: Tensor) -> bool:
    """Return whether kernels can take these tensors: float64 on the CPU without a gradient."""
    for tensor in tensors:
        if tensor.dtype != torch.float64 or not tensor.is_cpu:
            return False
        if tensor.requires_grad and torch.is_grad_enabled():
            return False
    return use_kernels(tensors[0].device)


def can_run_on_device(program: Program, *tensors: Tensor) -> bool:
    """Return whether kernels of a CUDA device can take these tensors, and all effects."""
    return all(own.dtype == torch.float64 and use_triton(own.device) for own in tensors) and (
        not program.given
    )


def _on(program: Program, device: torch.device) -> "ProgramOnDevice":
    """Return a program on a CUDA device; it is brought there once."""
    from proce.causal.programs.gpu.running import ProgramOnDevice

    if device not in program.on_devices:
        program.on_devices[device] = ProgramOnDevice.of(program, device)
    own: ProgramOnDevice = program.on_devices[device]
    return own


def propagate_on_device(
    program: Program, rows: Tensor, residual: Tensor, acted_on: Tensor
) -> Tensor:
    """Return where rows ``(i, c, f)`` lead to on a CUDA device, as :func:`propagate` does."""
    flags = acted_on.broadcast_to(rows.shape)
    return _on(program, rows.device).propagate(rows, residual, flags)


def separate(
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
    if rows.is_cuda:
        return Actions(*_on(program, rows.device).separate(factual, rows, residual, acting))
    from proce.causal.programs import kernels

    n_rows, n_candidates, n_features = rows.shape
    lines = n_rows * n_candidates, n_features
    inputs = (
        n_candidates,
        _array(factual, (n_rows, n_features)),
        _array(rows, lines),
        _array(residual, (n_rows, residual.shape[-1])),
        _NO_FLAGS if acting is None else _array(acting, lines),
    )
    cells, flags = np.empty((2, *rows.shape)), np.zeros((4, *rows.shape), np.bool_)
    point, expected = map(torch.from_numpy, cells)
    outputs = cells.reshape(2, *lines), flags.reshape(4, *lines)
    given, follows = _NO_VALUES, _NO_FLAGS
    for run, (start, stop) in enumerate(program.segments):
        if run > 0:
            given, follows = _asked(program, outcome, start, point, residual[:, None])
        kernels.separate(
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
    acted_on, held, consequence, outside = map(torch.from_numpy, flags)
    return Actions(point, acted_on, held, consequence, expected, outside)


def propagate(
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
    from proce.causal.programs import kernels

    if rows.ndim == 2:
        candidates, flags = rows[:, None], acted_on[:, None]
        return propagate(program, outcome, candidates, residual, flags)[:, :, 0]
    n_models, (n_rows, n_candidates, n_features) = len(program.effects), rows.shape
    lines = n_rows * n_candidates, n_features
    inputs = (
        n_candidates,
        _array(rows, lines),
        _array(residual, (n_models, n_rows, residual.shape[-1])),
        _array(acted_on.broadcast_to(rows.shape), lines),
    )
    cells = np.empty((n_models, *lines))
    outcomes = torch.from_numpy(cells.reshape(n_models, *rows.shape))
    given, follows = _NO_VALUES, _NO_FLAGS
    for run, (start, stop) in enumerate(program.segments):
        if run > 0:
            given, follows = _asked(program, outcome, start, outcomes, residual[:, :, None])
        kernels.propagate(
            program.effects,
            program.parents,
            program.weights,
            program.tolerances,
            start,
            stop,
            *inputs,
            given,
            follows,
            cells,
        )
    return outcomes


def abduct(program: Program, noise_of: Sequence[NoiseOf], rows: Tensor, uniforms: Tensor) -> Tensor:
    """Return the noise ``(m, i, w)`` that explains rows ``(i, f)`` in each model of a program.

    Parameters
    ----------
    program
        The equations of one or several models.
    noise_of
        :meth:`StructuralCausalModel.noise_of` of each, for effects that are not compiled.
    rows
        Factual rows.
    uniforms
        ``(m, i, w)``, by which noise is drawn where many explain a level.
    """
    from proce.causal.programs import noise as kernels

    noise = np.full(uniforms.shape, np.nan)
    kernels.abduct(
        program.effects,
        program.parents,
        program.weights,
        program.tolerances,
        _array(rows, tuple(rows.shape)),
        _array(uniforms, (len(program.effects), len(rows), uniforms.shape[-1])),
        noise,
    )
    found = torch.from_numpy(noise)
    for effect in program.effects[0, list(program.given)]:
        for model, asked in enumerate(noise_of):
            own = asked(int(effect["position"]), rows, uniforms[model])
            found[model, :, effect["noise"] : effect["noise"] + own.shape[-1]] = own
    return found


def measure_gaps(program: Program, factual: Tensor, rows: Tensor, residual: Tensor) -> Tensor:
    """Return how far each effect is from what its causes lead to, ``(i, c, f)``.

    See :func:`proce.objective.distance.causal_gap`. The gaps of effects that are not compiled are
    0. The rows are ``(i, c, f)``, and the people ``(i, f)`` with their noise ``(i, w)``.
    """
    from proce.causal.programs import gaps as kernels

    n_rows, n_candidates, n_features = rows.shape
    lines = n_rows * n_candidates, n_features
    gaps = np.zeros(lines)
    kernels.measure_gaps(
        program.effects,
        program.parents,
        program.weights,
        program.tolerances,
        n_candidates,
        _array(factual, (n_rows, n_features)),
        _array(rows, lines),
        _array(residual, (n_rows, residual.shape[-1])),
        gaps,
    )
    return torch.from_numpy(gaps.reshape(rows.shape))


def _asked(
    program: Program, outcome: Outcome, place: int, rows: Tensor, noise: Tensor
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return what tensors say of an effect in rows ``(…, i, c, f)``, and where, both ``(m, n)``."""
    position = int(program.effects["position"][0, place])
    value, follows = outcome(position, rows.unbind(-1), noise)
    shape = rows.shape[:-1]
    lines = shape[:-2].numel(), shape[-2:].numel()
    return _array(value.broadcast_to(shape), lines), _array(follows.broadcast_to(shape), lines)


def _array(tensor: Tensor, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return a tensor as a contiguous array of some shape with as many cells."""
    array = tensor.detach().numpy() if tensor.requires_grad else tensor.numpy()
    if array.shape == shape and array.flags.c_contiguous:
        return array
    return np.ascontiguousarray(array).reshape(shape)
