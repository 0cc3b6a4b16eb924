"""The noise that explains rows, for numba."""

import numpy as np

from proce.arrays import Flags, Floats
from proce.causal.programs.links import explain
from proce.causal.programs.program import Link, Program
from proce.causal.programs.responses import BLOCK, predict, workspace
from proce.compiled.cells import known_or_first
from proce.compiled.kernel import kernel


@kernel
def abduct(
    program: Program,
    rows: Floats,
    uniforms: Floats,
    lacks: Flags,
    noise: Floats,
) -> None:
    """Write the noise ``(m, n, w)`` that explains rows ``(n, f)`` in each model.

    It is NaN where the flags ``(n, e)`` say that an effect or a cause of it is missing. Where many
    noises explain a level, one is drawn with ``uniforms (m, n, w)``. The noise of an effect that is
    not compiled is left alone.
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
                    if lacks[row, place]:
                        for output in range(effect.n_outputs):
                            noise[model, row, effect.noise + output] = np.nan
