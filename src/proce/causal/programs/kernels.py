"""What follows from actions, candidate by candidate.

Rows ``(n, f)`` are the candidates of several people, equally many of each, one person after the
other. They are worked on in blocks that fit the cache; what a row gets does not depend on its
block.
"""

import numpy as np

from proce.arrays import Flags, Floats, Ints
from proce.causal.programs.links import respond
from proce.causal.programs.program import Link, Program, Record
from proce.causal.programs.responses import BLOCK, predict, workspace
from proce.compiled.cells import on_grid
from proce.compiled.kernel import ZERO, kernel, part

_ROUNDING = 1e-9  # a move that is smaller is no step


@part
def find_owners(begin: int, n_candidates: int, owners: Ints) -> None:
    """Write whose rows stand from ``begin`` on."""
    for row in range(len(owners)):
        owners[row] = (begin + row) // n_candidates


@kernel
def separate(
    program: Program,
    start: int,
    stop: int,
    n_candidates: int,
    factual: Floats,
    rows: Floats,
    residual: Floats,
    acting: Flags,
    given: Floats,
    follows: Flags,
    cells: Floats,
    flags: Flags,
) -> None:
    """Tell actions, holds and consequences apart, through the effects from ``start`` to ``stop``.

    The first run writes all cells of the rows, later ones those of their effects. ``acting`` has
    the rows' shape or no entries. The value of an effect that is not compiled is ``given (1, n)``
    where it ``follows``. ``cells (2, n, f)`` become the point and what is expected; ``flags (4, n,
    f)``, of which none is set, what is acted on, held, a consequence and outside.
    """
    point, expected = cells[0], cells[1]
    acted_on, held, consequence, outside = flags[0], flags[1], flags[2], flags[3]
    n_rows, n_features = rows.shape
    work = workspace(program)
    values, places = np.empty(BLOCK), np.empty(BLOCK, np.int64)
    has_flags, limits = acting.size > 0, np.empty(n_features)  # beyond which a change is an action
    for f in range(n_features):
        limits[f] = program.tolerances[f].still if program.tolerances[f].can_act else np.inf
    for begin in range(0, n_rows, BLOCK):
        end = min(begin + BLOCK, n_rows)
        now, owners = point[begin:end], places[: end - begin]
        find_owners(begin, n_candidates, owners)
        if start == 0:
            for row in range(begin, end):
                owner = owners[row - begin]
                for f in range(n_features):
                    wanted, own = rows[row, f], factual[owner, f]
                    acts = abs(wanted - own) > limits[f]
                    acted_on[row, f] = acts
                    point[row, f] = wanted if acts else own
                    expected[row, f] = own
        for place in range(start, stop):
            effect = program.effects[0, place]
            if effect.is_cut:
                continue
            is_given = effect.link == Link.GIVEN
            if not is_given:
                predict(program, ZERO, place, now, work)
                respond(effect, program.weights, work.predicted, residual, owners, values)
            f, noise = effect.position, effect.noise
            tolerance = program.tolerances[f]
            step, origin, still = tolerance.step, tolerance.origin, tolerance.still
            can_act, is_number = tolerance.can_act == 1, tolerance.is_number == 1
            lowest, highest = tolerance.lowest, tolerance.highest
            for row in range(begin, end):  # no branches: which way they go cannot be foreseen
                owner = owners[row - begin]
                if is_given:
                    if not follows[0, row]:
                        continue
                    value = given[0, row]
                else:
                    if np.isnan(residual[owner, noise]):
                        continue
                    value = values[row - begin]
                before, wanted = factual[owner, f], rows[row, f]
                ended = _rounded(step, origin, still, before, value - before)
                moved = abs(wanted - before) > still
                chosen = (abs(wanted - ended) > still) & can_act
                if has_flags:
                    chosen &= acting[row, f]
                went = (ended != before) & (not chosen)
                below, above = (
                    (ended < before) & (ended < lowest),
                    (ended > before) & (ended > highest),
                )
                expected[row, f] = ended
                acted_on[row, f] = chosen & moved
                held[row, f] = chosen & (not moved)
                consequence[row, f] = went
                outside[row, f] = went & is_number & (below | above)
                kept = wanted if moved else before
                point[row, f] = kept if chosen else ended


@part
def _rounded(step: float, origin: float, still: float, before: float, drift: float) -> float:
    """Return where a feature that follows would be shown, from its value before and its drift."""
    if step == 0:
        return before + drift if abs(drift) > still else before
    if origin == origin:
        return on_grid(before + drift, origin, step) if abs(drift) > still else before
    moved = on_grid(drift, 0.0, step)
    return before + moved if abs(moved) > _ROUNDING else before


@kernel
def write_drifted(tolerance: Record, before: Floats, drift: Floats, ended: Floats) -> None:
    """Write where a feature would be shown ``(i, c)`` that was somewhere ``(i,)`` and drifts."""
    step, origin, still = tolerance.step, tolerance.origin, tolerance.still
    for i in range(drift.shape[0]):
        for c in range(drift.shape[1]):
            ended[i, c] = _rounded(step, origin, still, before[i], drift[i, c])


@kernel
def propagate(
    program: Program,
    start: int,
    stop: int,
    n_candidates: int,
    rows: Floats,
    residual: Floats,
    acted_on: Flags,
    given: Floats,
    follows: Flags,
    outcomes: Floats,
) -> None:
    """Write where rows lead to in each model, ``(m, n, f)``.

    The effects from ``start`` to ``stop`` follow, under noise ``(m, i, w)``, where they are not
    ``acted_on (n, f)``. The value of an effect that is not compiled is ``given (m, n)`` where it
    ``follows``.
    """
    work = workspace(program)
    values, places = np.empty(BLOCK), np.empty(BLOCK, np.int64)
    for model in range(len(program.effects)):
        for begin in range(0, len(rows), BLOCK):
            end = min(begin + BLOCK, len(rows))
            now, owners = outcomes[model, begin:end], places[: end - begin]
            find_owners(begin, n_candidates, owners)
            if start == 0:
                for row in range(begin, end):
                    for f in range(rows.shape[1]):
                        now[row - begin, f] = rows[row, f]
            for place in range(start, stop):
                effect = program.effects[model, place]
                if effect.is_cut:
                    continue
                is_given = effect.link == Link.GIVEN
                if not is_given:
                    predict(program, model, place, now, work)
                    noise = residual[model]
                    respond(effect, program.weights, work.predicted, noise, owners, values)
                f, rounding = effect.position, program.tolerances[effect.position].rounding
                for row in range(begin, end):
                    if acted_on[row, f]:
                        continue
                    if is_given:
                        if not follows[model, row]:
                            continue
                        value = given[model, row]
                    else:
                        if np.isnan(residual[model, owners[row - begin], effect.noise]):
                            continue
                        value = values[row - begin]
                    own = now[row - begin, f]
                    size = abs(own) if abs(own) > 1 else 1.0
                    if not abs(value - own) <= rounding * size:
                        now[row - begin, f] = value
