"""What a person does and what follows from it: abduction, action and prediction by kernels.

A counterfactual row says where each feature ends, not how it got there. Going through the
features in causal order, and propagating the row on the way, tells what was done, what was held
and what merely followed. An effect whose equation is not compiled is asked for in between.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from proce.arrays import Array
from proce.causal.programs import kernels
from proce.causal.programs.program import (
    EFFECT,
    TOLERANCE,
    FunctionAnswers,
    Program,
    Run,
    Table,
    program_of,
)
from proce.schema import Action, Codec, Continuous

_COMPUTING_ERROR = 1e-12  # of the range
_NO_FLAGS = np.empty((0, 0), np.bool_)
_NO_VALUES = np.empty((0, 0))
_NOTHING_GIVEN = _NO_VALUES, _NO_VALUES

# What functions that are not compiled are asked for, see `StructuralCausalModel`.
Outcome = Callable[[int, Array, Array], Array]
NoiseOf = Callable[[int, Array, Array, Array], Array]
KeptChances = Callable[[int, Array, Array], Array]


@dataclass(frozen=True)
class Actions:
    """What is done and what follows in rows ``(i, c, f)``; every field has their shape."""

    # the rows after propagation: actions as they were set, all else as it follows. This is what a
    # person is shown.
    point: Array
    acted_on: Array  # set by the person to a new value
    held: Array  # kept at the factual value against a cause that moved: an action too
    consequence: Array  # moved by itself
    expected: Array  # where each feature would be if it were neither acted on nor held
    # A consequence beyond both the training range and the factual value. Equations are not to be
    # trusted there; the value is not clipped.
    outside: Array

    @property
    def by_hand(self) -> Array:
        """What a person does, by acting or by holding; all else follows."""
        return self.acted_on | self.held

    @property
    def count(self) -> Array:
        """How many actions and holds each row takes, ``(i, c)``."""
        return self.by_hand.sum(-1)


def tolerances_of(codec: Codec) -> Table:
    """Return which differences of a codec's features count, records `TOLERANCE` ``(f,)``."""
    table, (origin, step) = np.zeros(len(codec.schema), TOLERANCE), codec.grid
    stepped = [isinstance(f, Continuous) and f.step is not None for f in codec.schema]
    rounded = codec.is_number & ~np.array(stepped) & (codec.resolution > 0)
    table["still"] = codec.still
    table["step"] = np.where(codec.is_number, step, 0.0)
    table["origin"] = np.where(rounded, origin, np.nan)
    table["lowest"], table["highest"] = codec.lowest, codec.highest
    table["rounding"] = _COMPUTING_ERROR * (1 + np.abs(codec.low) / codec.span)
    table["reach"] = codec.reach
    table["can_act"] = [f.can_be_acted_on or f.action is Action.WAITS for f in codec.schema]
    table["is_number"], table["is_categorical"] = codec.is_number, codec.is_categorical
    return table


def abduct(
    program: Program, noise_of: Sequence[NoiseOf], rows: Array, is_unknown: Array, uniforms: Array
) -> Array:
    """Return the noise ``(m, i, w)`` that explains rows ``(i, f)`` in each model of a program."""
    rows = np.ascontiguousarray(rows, np.float64)
    noise = np.full(uniforms.shape, np.nan)
    drawn = _array(uniforms, (len(program.effects), len(rows), uniforms.shape[-1]))
    kernels.abduct(program, rows, drawn, is_unknown, noise)
    for place in program.given:
        effect = program.effects[0, place]
        for model, explain in enumerate(noise_of):
            own = explain(int(effect["position"]), rows, is_unknown[:, place], uniforms[model])
            noise[model, :, effect["noise"] : effect["noise"] + own.shape[-1]] = own
    return noise


def separate(
    program: Program,
    outcome: Outcome,
    factual: Array,  # (i, f)
    rows: Array,  # (i, c, f)
    residual: Array,  # (i, w)
    acting: Array | None = None,  # flags (i, c, f) of what may be acted on
) -> Actions:
    """Tell actions, holds and consequences apart, under one model."""
    # A feature without causes is acted on where it changed by more than half a step. One with
    # causes is acted on, or held, where it is more than half a step from what they lead to, as a
    # person would see it; where it is nearer, it is set to that and follows, by whole steps. So a
    # single step is an action, whether a feature has causes or not. Fixed and indirect features
    # are never acted on or held.
    n_rows, n_candidates, n_features = rows.shape
    lines = n_rows * n_candidates, n_features
    people = _array(factual, factual.shape), _array(residual, (n_rows, residual.shape[-1]))
    may_act = _NO_FLAGS if acting is None else _array(acting, lines)
    candidates = _array(rows, lines), may_act, n_candidates
    cells, flags = np.empty((2, *rows.shape)), np.zeros((4, *rows.shape), np.bool_)
    point, expected = cells
    outputs = cells.reshape(2, *lines), flags.reshape(4, *lines)
    for run, given in _runs(program, outcome, point, residual[:, None]):
        kernels.separate(program, run, people, candidates, given, outputs)
    acted_on, held, consequence, outside = flags
    return Actions(point, acted_on, held, consequence, expected, outside)


def act_without_effects(codec: Codec, factual: Array, rows: Array) -> Actions:
    """Return what is acted on in candidates ``(i, c, f)`` where nothing follows from anything."""
    # All that changed is acted on, whether it may be or not, but for what is too small to count.
    residual = np.empty((len(factual), 0))
    return separate(_program_without_effects(codec), _follow_nothing, factual, rows, residual)


@lru_cache(maxsize=32)
def _program_without_effects(codec: Codec) -> Program:
    tolerances = tolerances_of(codec)
    tolerances["can_act"] = True
    return program_of(np.zeros((1, 0), EFFECT), tolerances)


def _follow_nothing(position: int, rows: Array, noise: Array) -> Array:
    raise AssertionError("there is no effect to ask for")


def propagate(
    program: Program,
    outcome: Outcome,
    rows: Array,  # (i, c, f) or (i, f)
    residual: Array,  # (m, i, w), the noise of the rows in each model
    acted_on: Array,
) -> Array:
    """Return where rows lead to in each model of a program, ``(m, i, c, f)`` or ``(m, i, f)``."""
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
    for run, given in _runs(program, outcome, outcomes, residual[:, :, None]):
        kernels.propagate(program, run, noise, candidates, given, cells)
    return outcomes


def measure_gaps(
    program: Program,
    outcome: Outcome,
    kept_chances: KeptChances,
    factual: Array,  # (i, f)
    rows: Array,  # (i, c, f)
    residual: Array,  # (i, w)
) -> Array:
    """Return how far each effect is from what its causes lead to, ``(i, c, f)``, in one model."""
    # Numbers and ranks are compared on the unit range; a level that is not the expected one is at
    # distance 1. A level that is kept although the noise would change it counts by the share of
    # its chance that is lost: the noise is one of many that explain the person. The gaps of an
    # unchanged row are zero.
    n_rows, n_candidates, n_features = rows.shape
    lines = n_rows * n_candidates, n_features
    people = _array(factual, factual.shape), _array(residual, (n_rows, residual.shape[-1]))
    candidates = _array(rows, lines), _NO_FLAGS, n_candidates
    gaps = np.zeros(lines)
    for run, given in _runs(program, outcome, rows, residual[:, None]):
        if given is not _NOTHING_GIVEN:
            kept = kept_chances(int(program.effects["position"][0, run[0]]), factual, rows)
            chances = np.broadcast_to(kept, (len(kept), *rows.shape[:2]))
            given = given[0], _array(chances, (len(kept), lines[0]))
        kernels.measure_gaps(program, run, people, candidates, given, gaps)
    return gaps.reshape(rows.shape)


def _runs(
    program: Program,
    outcome: Outcome,
    rows: Array,  # (…, i, c, f), in which the effects of a run are told before the next one
    noise: Array,
) -> Iterator[tuple[Run, FunctionAnswers]]:
    """Yield the runs of a program, each with what a function says of its first effect."""
    given, shape = _NOTHING_GIVEN, rows.shape[:-1]
    for place, (start, stop) in enumerate(program.runs.tolist()):
        if place > 0:
            position = int(program.effects["position"][0, start])
            values = np.broadcast_to(outcome(position, np.moveaxis(rows, -1, 0), noise), shape)
            flat = _array(values, (math.prod(shape[:-2]), math.prod(shape[-2:])))
            given = flat, _NO_VALUES
        yield (start, stop), given


def _array(array: Array, shape: tuple[int, ...]) -> Array:
    """Return an array as a contiguous one of flags or doubles, of some shape with as many cells."""
    dtype = np.bool_ if array.dtype == np.bool_ else np.float64
    whole: Array = np.ascontiguousarray(array, dtype)
    # What was broadcast may not be written, and kernels would be compiled once more for it.
    return (whole if whole.flags.writeable else whole.copy()).reshape(shape)
