"""What follows from actions, candidate by candidate; the tensors are in `proce.causal.models`."""

import numpy as np
from numpy.typing import NDArray

from proce.causal.programs.program import Floats, Link, Table
from proce.causal.programs.responses import predict, respond, sizes
from proce.compiled.kernel import kernel

Flags = NDArray[np.bool_]
_ROUNDING = 1e-9  # a move that is smaller is no step


@kernel
def rounded(step: float, origin: float, still: float, before: float, drift: float) -> float:
    """Return where a feature that follows would be shown, from its value before and its drift."""
    if step == 0:
        return before + drift if abs(drift) > still else before
    if origin == origin:
        ended = origin + np.rint((before + drift - origin) / step) * step
        return ended if abs(drift) > still else before
    moved = np.rint(drift / step) * step
    return before + moved if abs(moved) > _ROUNDING else before


@kernel
def separate(
    effects: Table,
    parents: Table,
    weights: Floats,
    tolerances: Table,
    start: int,
    stop: int,
    factual: Floats,
    rows: Floats,
    residual: Floats,
    acting: Flags,
    given: Floats,
    follows: Flags,
    point: Floats,
    expected: Floats,
    acted_on: Flags,
    held: Flags,
    consequence: Flags,
    outside: Flags,
) -> None:
    """Tell actions, holds and consequences apart, through the effects from ``start`` to ``stop``.

    The first run writes all cells of rows ``(i, c, f)``, later ones those of their effects.
    ``acting`` has their shape or no entries. The value of an effect that is not compiled is
    ``given (1, i, c)`` where it ``follows``.
    """
    n_instances, n_candidates, n_features = rows.shape
    n_parents, n_outputs = sizes(effects)
    columns = np.empty((n_parents, n_candidates), np.int64)
    amounts = np.empty((n_parents, n_candidates))
    predicted = np.empty((n_outputs, n_candidates))
    slopes, values = np.empty(n_candidates), np.empty(n_candidates)
    for i in range(n_instances):
        now = point[i]
        if start == 0:
            for c in range(n_candidates):
                for f in range(n_features):
                    row, own = rows[i, c, f], factual[i, f]
                    acts = abs(row - own) > tolerances[f].still and tolerances[f].can_act == 1
                    acted_on[i, c, f] = acts
                    now[c, f] = row if acts else own
                    expected[i, c, f] = own
                    held[i, c, f] = consequence[i, c, f] = outside[i, c, f] = False
        for place in range(start, stop):
            effect = effects[0, place]
            f = effect.position
            is_given = effect.link == Link.GIVEN
            if not is_given:
                if np.isnan(residual[i, effect.noise]):
                    continue
                predict(
                    *(effects, parents, weights, 0, place, now),
                    *(columns, amounts, slopes, predicted),
                )
                respond(effects, weights, 0, place, residual[i], predicted, values)
            before, tolerance = factual[i, f], tolerances[f]
            step, origin, still, near = (
                tolerance.step,
                tolerance.origin,
                tolerance.still,
                tolerance.near,
            )
            for c in range(n_candidates):
                if is_given and not follows[0, i, c]:
                    continue
                value = given[0, i, c] if is_given else values[c]
                ended = rounded(step, origin, still, before, value - before)
                wanted = rows[i, c, f]
                moved = abs(wanted - before) > still
                chosen = abs(wanted - ended) > near and tolerance.can_act == 1
                if acting.size:
                    chosen = chosen and acting[i, c, f]
                went = ended != before and not chosen
                expected[i, c, f] = ended
                acted_on[i, c, f] = chosen and moved
                held[i, c, f] = chosen and not moved
                consequence[i, c, f] = went
                now[c, f] = (wanted if moved else before) if chosen else ended
                if went and tolerance.is_number == 1:
                    outside[i, c, f] = (ended < before and ended < tolerance.lowest) or (
                        ended > before and ended > tolerance.highest
                    )


@kernel
def propagate(
    effects: Table,
    parents: Table,
    weights: Floats,
    tolerances: Table,
    start: int,
    stop: int,
    rows: Floats,
    residual: Floats,
    acted_on: Flags,
    given: Floats,
    follows: Flags,
    outcomes: Floats,
) -> None:
    """Write where rows ``(i, c, f)`` lead to in each model ``(m, i, c, f)``.

    The effects from ``start`` to ``stop`` follow, under noise ``(m, i, w)``, where they are not
    ``acted_on (i, c, f)``. The value of an effect that is not compiled is ``given (m, i, c)``
    where it ``follows``.
    """
    n_parents, n_outputs = sizes(effects)
    n_candidates = rows.shape[1]
    columns = np.empty((n_parents, n_candidates), np.int64)
    amounts = np.empty((n_parents, n_candidates))
    predicted = np.empty((n_outputs, n_candidates))
    slopes, values = np.empty(n_candidates), np.empty(n_candidates)
    for m in range(len(effects)):
        for i in range(len(rows)):
            now = outcomes[m, i]
            if start == 0:
                now[:] = rows[i]
            for place in range(start, stop):
                effect = effects[m, place]
                f = effect.position
                is_given = effect.link == Link.GIVEN
                if not is_given:
                    if np.isnan(residual[m, i, effect.noise]):
                        continue
                    predict(
                        *(effects, parents, weights, m, place, now),
                        *(columns, amounts, slopes, predicted),
                    )
                    respond(effects, weights, m, place, residual[m, i], predicted, values)
                rounding = tolerances[f].rounding
                for c in range(n_candidates):
                    if acted_on[i, c, f] or (is_given and not follows[m, i, c]):
                        continue
                    value, own = given[m, i, c] if is_given else values[c], now[c, f]
                    size = abs(own) if abs(own) > 1 else 1.0
                    if not abs(value - own) <= rounding * size:
                        now[c, f] = value
