"""What follows from actions, by kernels.

An effect whose equation is not compiled is asked for in between.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from proce.arrays import Array
from proce.causal.models.actions import Actions
from proce.causal.programs.program import Given, Program

Outcome = Callable[[int, Array, Array], Array]
NoiseOf = Callable[[int, Array, Array, Array], Array]
KeptChances = Callable[[int, Array, Array], Array]
_NO_FLAGS = np.empty((0, 0), np.bool_)
_NO_VALUES = np.empty((0, 0))
_NOTHING_GIVEN = _NO_VALUES, _NO_VALUES


def separate(
    program: Program,
    outcome: Outcome,
    factual: Array,
    rows: Array,
    residual: Array,
    acting: Array | None = None,
) -> Actions:
    """Tell actions, holds and consequences apart, see `Actions`.

    A feature without causes is acted on where it changed by more than half a step. One with
    causes is acted on, or held, where it is more than half a step from what they lead to, as a
    person would see it; where it is nearer, it is set to that and follows, by whole steps. So a
    single step is an action, whether a feature has causes or not. Fixed and indirect features are
    never acted on or held, nor is a feature with causes where ``acting`` is false.

    Parameters
    ----------
    program
        The equations of one model.
    outcome
        :meth:`StructuralCausalModel.outcome`, for effects that are not compiled.
    factual, rows, residual, acting
        ``(i, f)``, ``(i, c, f)``, ``(i, w)`` and flags ``(i, c, f)``.
    """
    from proce.causal.programs import kernels

    n_rows, n_candidates, n_features = rows.shape
    lines = n_rows * n_candidates, n_features
    people = _array(factual, factual.shape), _array(residual, (n_rows, residual.shape[-1]))
    may_act = _NO_FLAGS if acting is None else _array(acting, lines)
    candidates = _array(rows, lines), may_act, n_candidates
    cells, flags = np.empty((2, *rows.shape)), np.zeros((4, *rows.shape), np.bool_)
    point, expected = cells
    told, given = (cells.reshape(2, *lines), flags.reshape(4, *lines)), _NOTHING_GIVEN
    for place, (start, stop) in enumerate(program.runs.tolist()):
        if place > 0:
            given = _asked(program, outcome, start, point, residual[:, None])
        kernels.separate(program, (start, stop), people, candidates, given, told)
    acted_on, held, consequence, outside = flags
    return Actions(point, acted_on, held, consequence, expected, outside)


def propagate(
    program: Program, outcome: Outcome, rows: Array, residual: Array, acted_on: Array
) -> Array:
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
        one, flags = rows[:, None], acted_on[:, None]
        return propagate(program, outcome, one, residual, flags)[:, :, 0]
    n_models, (n_rows, n_candidates, n_features) = len(program.effects), rows.shape
    lines = n_rows * n_candidates, n_features
    flags = acted_on if acted_on.shape == rows.shape else np.broadcast_to(acted_on, rows.shape)
    candidates = _array(rows, lines), _array(flags, lines), n_candidates
    noise = _array(residual, (n_models, n_rows, residual.shape[-1]))
    cells = np.empty((n_models, *lines))
    outcomes = cells.reshape(n_models, *rows.shape)
    given = _NOTHING_GIVEN
    for place, (start, stop) in enumerate(program.runs.tolist()):
        if place > 0:
            given = _asked(program, outcome, start, outcomes, residual[:, :, None])
        kernels.propagate(program, (start, stop), noise, candidates, given, cells)
    return outcomes


def abduct(
    program: Program, noise_of: Sequence[NoiseOf], rows: Array, lacks: Array, uniforms: Array
) -> Array:
    """Return the noise ``(m, i, w)`` that explains rows ``(i, f)`` in each model of a program.

    Parameters
    ----------
    program
        The equations of one or several models.
    noise_of
        :meth:`StructuralCausalModel.noise_of` of each, for effects that are not compiled.
    rows, lacks
        Factual rows, and :meth:`StructuralCausalModel.lacks` of them.
    uniforms
        ``(m, i, w)``, by which noise is drawn where many explain a level.
    """
    from proce.causal.programs import noise as kernels

    rows = np.ascontiguousarray(rows, np.float64)
    noise = np.full(uniforms.shape, np.nan)
    kernels.abduct(
        program,
        rows,
        _array(uniforms, (len(program.effects), len(rows), uniforms.shape[-1])),
        lacks,
        noise,
    )
    for place in program.given:
        effect = program.effects[0, place]
        for model, asked in enumerate(noise_of):
            own = asked(int(effect["position"]), rows, lacks[:, place], uniforms[model])
            noise[model, :, effect["noise"] : effect["noise"] + own.shape[-1]] = own
    return noise


def measure_gaps(
    program: Program,
    outcome: Outcome,
    kept_chances: KeptChances,
    factual: Array,
    rows: Array,
    residual: Array,
) -> Array:
    """Return how far each effect is from what its causes lead to, ``(i, c, f)``.

    Numbers and ranks are compared on the unit range; a level that is not the expected one is at
    distance 1. A level that is kept although the noise would change it counts by the share of its
    chance that is lost: the noise is one of many that explain the person. The gaps of an unchanged
    row are zero.

    Parameters
    ----------
    program
        The equations of one model.
    outcome, kept_chances
        :meth:`StructuralCausalModel.outcome` and :meth:`StructuralCausalModel.kept_chances`, for
        effects that are not compiled.
    factual, rows, residual
        The people ``(i, f)``, candidates ``(i, c, f)`` and noise ``(i, w)``.
    """
    from proce.causal.programs import gaps as kernels

    n_rows, n_candidates, n_features = rows.shape
    lines = n_rows * n_candidates, n_features
    people = _array(factual, factual.shape), _array(residual, (n_rows, residual.shape[-1]))
    candidates = _array(rows, lines), _NO_FLAGS, n_candidates
    gaps, given = np.zeros(lines), _NOTHING_GIVEN
    for place, (start, stop) in enumerate(program.runs.tolist()):
        if place > 0:
            values, _ = _asked(program, outcome, start, rows, residual[:, None])
            kept = kept_chances(int(program.effects["position"][0, start]), factual, rows)
            shape = len(kept), lines[0]
            chances = np.broadcast_to(kept, (len(kept), *rows.shape[:2]))
            given = values, _array(chances, shape)
        kernels.measure_gaps(program, (start, stop), people, candidates, given, gaps)
    return gaps.reshape(rows.shape)


def _asked(program: Program, outcome: Outcome, place: int, rows: Array, noise: Array) -> Given:
    """Return what a function says of an effect in rows ``(…, i, c, f)``, as ``(m, n)``."""
    position = int(program.effects["position"][0, place])
    shape = rows.shape[:-1]
    values = np.broadcast_to(outcome(position, np.moveaxis(rows, -1, 0), noise), shape)
    return _array(values, (math.prod(shape[:-2]), math.prod(shape[-2:]))), _NO_VALUES


def _array(array: Array, shape: tuple[int, ...]) -> Array:
    """Return an array as a contiguous one of flags or doubles, of some shape with as many cells."""
    dtype = np.bool_ if array.dtype == np.bool_ else np.float64
    return np.ascontiguousarray(array, dtype).reshape(shape)
