"""The noise that explains rows, for numba."""

import numpy as np

from proce.arrays import Floats
from proce.causal.programs.links import explain
from proce.causal.programs.program import Link, Program
from proce.causal.programs.responses import BLOCK, predict, workspace
from proce.compiled.cells import is_missing
from proce.compiled.kernel import kernel


@kernel
def abduct(
    program: Program,
    rows: Floats,
    uniforms: Floats,
    noise: Floats,
) -> None:
    """Write the noise ``(m, n, w)`` that explains rows ``(n, f)`` in each model.

    It is NaN where the feature or a parent is missing. Where many noises explain a level, one is
    drawn with ``uniforms (m, n, w)``. The noise of an effect that is not compiled is left alone.
    """
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
                for row in range(begin, end):
                    lacks = is_missing(rows[row, f], program.tolerances[f].is_number)
                    own[row - begin] = 0.0 if lacks else rows[row, f]
                explain(
                    effect,
                    program.weights,
                    work.predicted,
                    own,
                    uniforms[model, begin:end],
                    noise[model, begin:end],
                )
                for row in range(begin, end):
                    lacks = is_missing(rows[row, f], program.tolerances[f].is_number)
                    for cause in range(effect.n_parents):
                        position = program.parents[effect.first_parent + cause].position
                        lacks |= is_missing(
                            rows[row, position], program.tolerances[position].is_number
                        )
                    if lacks:
                        for output in range(effect.n_outputs):
                            noise[model, row, effect.noise + output] = np.nan
