"""What explains people, what follows from actions, and how far it is off, for numba.


Rows ``(n, f)`` are the candidates of several people, equally many of each, one person after the
other. They are worked on in blocks that fit the cache; what a row gets does not depend on its
block.
"""

from typing import NamedTuple

import numpy as np

from proce.arrays import MIN_DIFFERENCE, Flags, Floats, Ints
from proce.causal.programs.links import chance, explain, respond
from proce.causal.programs.program import (
    Candidates,
    FunctionAnswers,
    Link,
    Outputs,
    People,
    Program,
    Record,
    Run,
)
from proce.causal.programs.responses import BLOCK, Workspace, predict, workspace
from proce.compiled.cells import cell_gap, known_or_first, on_grid
from proce.compiled.kernel import ZERO, kernel, part
from proce.losses import MIN_CHANCE


class Block(NamedTuple):
    """Rows that are worked on at once."""

    begin: int  # where they stand among all rows
    rows: Floats  # (c, f)
    owners: Ints  # (c,), the positions of the people whose rows they are
    noise: Floats  # (i, w), of each person


@part
def find_owners(begin: int, n_candidates: int, owners: Ints) -> None:
    """Write the positions ``(c,)`` of the people whose candidates stand from ``begin`` on."""
    for row in range(len(owners)):
        owners[row] = (begin + row) // n_candidates


@part
def follow(
    program: Program, model: int, place: int, block: Block, given: FunctionAnswers, work: Workspace
) -> None:
    """Write the values ``(c,)`` that causes lead an effect to in a block of rows, and where."""
    # Where the noise is unknown, causes decide nothing.
    effect, values, decides = program.effects[model, place], work.values, work.decides
    owners, noise = block.owners, block.noise
    if effect.link == Link.GIVEN:
        for c in range(len(owners)):
            values[c] = given[0][model, block.begin + c]
    else:
        predict(program, model, place, block.rows, work)
        respond(effect, program.weights, work.predicted, noise, owners, work.slopes, values)
    for c in range(len(owners)):
        decides[c] = not np.isnan(noise[owners[c], effect.noise])


@kernel
def separate(
    program: Program,
    run: Run,
    people: People,
    candidates: Candidates,
    given: FunctionAnswers,
    outputs: Outputs,
) -> None:
    """Tell actions, holds and consequences apart in rows ``(n, f)``, through a run of effects."""
    # The first run writes all cells of the rows, later ones those of their effects. The flags of
    # candidates say where a person may act; none of those told is set before.
    (start, stop), (factual, residual) = run, people
    rows, acting, n_candidates = candidates
    cells, flags = outputs
    point, expected = cells[0], cells[1]
    acted_on, held, consequence, outside = flags[0], flags[1], flags[2], flags[3]
    n_rows, n_features = rows.shape
    work = workspace(program)
    values, decides, places = work.values, work.decides, np.empty(BLOCK, np.int64)
    has_flags, limits = acting.size > 0, np.empty(n_features)  # beyond which a change is an action
    for f in range(n_features):
        limits[f] = program.tolerances[f].still if program.tolerances[f].can_act else np.inf
    for begin in range(0, n_rows, BLOCK):
        end = min(begin + BLOCK, n_rows)
        owners = places[: end - begin]
        find_owners(begin, n_candidates, owners)
        block = Block(begin, point[begin:end], owners, residual)
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
            follow(program, ZERO, place, block, given, work)
            f = effect.position
            tolerance = program.tolerances[f]
            step, origin, still = tolerance.step, tolerance.origin, tolerance.still
            can_act, is_number = tolerance.can_act == 1, tolerance.is_number == 1
            lowest, highest = tolerance.lowest, tolerance.highest
            for row in range(begin, end):  # no branches: which way they go cannot be foreseen
                if not decides[row - begin]:
                    continue
                value, owner = values[row - begin], owners[row - begin]
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
    # The feature moves by whole steps, or onto the grid from its origin on, where it has one.
    if step == 0:
        return before + drift if abs(drift) > still else before
    if origin == origin:
        return on_grid(before + drift, origin, step) if abs(drift) > still else before
    moved = on_grid(drift, 0.0, step)
    return before + moved if abs(moved) > MIN_DIFFERENCE else before


@kernel
def write_drifted(tolerance: Record, before: Floats, drift: Floats, ended: Floats) -> None:
    """Write where a feature would be shown ``(i, c)`` that drifts, from where it was ``(i,)``."""
    step, origin, still = tolerance.step, tolerance.origin, tolerance.still
    for i in range(drift.shape[0]):
        for c in range(drift.shape[1]):
            ended[i, c] = _rounded(step, origin, still, before[i], drift[i, c])


@kernel
def propagate(
    program: Program,
    run: Run,
    residual: Floats,
    candidates: Candidates,
    given: FunctionAnswers,
    outcomes: Floats,
) -> None:
    """Write where rows ``(n, f)`` lead through a run of effects, in each model ``(m, n, f)``."""
    # Effects follow, under noise `(m, i, w)`, unless flags of candidates say they are acted on.
    (start, stop), (rows, acted_on, n_candidates) = run, candidates
    work = workspace(program)
    values, decides, places = work.values, work.decides, np.empty(BLOCK, np.int64)
    for model in range(len(program.effects)):
        for begin in range(0, len(rows), BLOCK):
            end = min(begin + BLOCK, len(rows))
            now, owners = outcomes[model, begin:end], places[: end - begin]
            find_owners(begin, n_candidates, owners)
            block = Block(begin, now, owners, residual[model])
            if start == 0:
                for row in range(begin, end):
                    for f in range(rows.shape[1]):
                        now[row - begin, f] = rows[row, f]
            for place in range(start, stop):
                effect = program.effects[model, place]
                if effect.is_cut:
                    continue
                follow(program, model, place, block, given, work)
                f, rounding = effect.position, program.tolerances[effect.position].rounding
                for row in range(begin, end):
                    if acted_on[row, f] or not decides[row - begin]:
                        continue
                    value, own = values[row - begin], now[row - begin, f]
                    size = abs(own) if abs(own) > 1 else 1.0
                    if not abs(value - own) <= rounding * size:
                        now[row - begin, f] = value


@kernel
def measure_gaps(
    program: Program,
    run: Run,
    people: People,
    candidates: Candidates,
    given: FunctionAnswers,
    gaps: Floats,
) -> None:
    """Write the gap of each effect of a run, in rows ``(n, f)``; it is 0 where nothing follows."""
    # The gap of a level that is kept counts by the share of its chance that is lost.
    (start, stop), (factual, residual), (rows, _, n_candidates) = run, people, candidates
    work, weights = workspace(program), program.weights
    values, decides, predicted = work.values, work.decides, work.predicted
    places, chances = np.empty(BLOCK, np.int64), np.empty(len(factual))
    for place in range(start, stop):
        effect = program.effects[0, place]
        if effect.is_cut:
            continue
        f, is_given = effect.position, effect.link == Link.GIVEN
        reach = program.tolerances[f].reach
        is_categorical = program.tolerances[f].is_categorical == 1
        loses_chance = is_categorical or effect.link == Link.ORDERED
        if is_given:
            loses_chance = len(given[1]) > 0
        elif loses_chance:
            for begin in range(0, len(factual), BLOCK):
                end = min(begin + BLOCK, len(factual))
                predict(program, ZERO, place, factual[begin:end], work)
                for i in range(begin, end):
                    chances[i] = chance(effect, weights, predicted, i - begin, factual[i, f])
        for begin in range(0, len(rows), BLOCK):
            end = min(begin + BLOCK, len(rows))
            owners = places[: end - begin]
            find_owners(begin, n_candidates, owners)
            block = Block(begin, rows[begin:end], owners, residual)
            follow(program, ZERO, place, block, given, work)
            for row in range(begin, end):
                c, owner = row - begin, owners[row - begin]
                own = rows[row, f]
                gap = cell_gap(own, values[c], reach, is_categorical) if decides[c] else 0.0
                if loses_chance and gap > 0 and own == factual[owner, f]:
                    if is_given:
                        before, after = given[1][0, row], given[1][1, row]
                    else:
                        before, after = chances[owner], chance(effect, weights, predicted, c, own)
                    gap *= lost_share(before, after)
                gaps[row, f] = gap


@part
def lost_share(before: float, after: float) -> float:
    """Return the share of its chance that a level loses; next to none before counts as some."""
    return max(1 - after / max(before, MIN_CHANCE), 0.0)


@kernel
def abduct(
    program: Program,
    rows: Floats,
    uniforms: Floats,
    is_unknown: Flags,
    noise: Floats,
) -> None:
    """Write the noise ``(m, n, w)`` that explains rows ``(n, f)`` in each model."""
    # Noise is NaN where the flags `(n, e)` say that an effect or a cause of it is missing. Where
    # many noises explain a level, one is drawn with `uniforms (m, n, w)`. The noise of an effect
    # that is not compiled is left alone.
    work, values = workspace(program), np.empty(BLOCK)
    for model in range(program.effects.shape[0]):
        for begin in range(0, len(rows), BLOCK):
            end = min(begin + BLOCK, len(rows))
            for place in range(program.effects.shape[1]):
                effect = program.effects[model, place]
                if effect.link == Link.GIVEN:
                    continue
                predict(program, model, place, rows[begin:end], work)
                f, own = effect.position, values[: end - begin]
                is_number = program.tolerances[f].is_number == 1
                for row in range(begin, end):
                    own[row - begin] = known_or_first(rows[row, f], is_number)
                explain(
                    effect,
                    program.weights,
                    work.predicted,
                    own,
                    uniforms[model, begin:end],
                    noise[model, begin:end],
                )
                for row in range(begin, end):
                    if is_unknown[row, place]:
                        for output in range(effect.n_outputs):
                            noise[model, row, effect.noise + output] = np.nan
