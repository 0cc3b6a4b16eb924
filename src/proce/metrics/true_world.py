"""Where actions lead in the true world, whose equations are known."""

from dataclasses import replace

import numpy as np

from proce.arrays import Array
from proce.causal import StructuralCausalModel
from proce.causal.models.propagation import propagate
from proce.causal.programs.program import Link
from proce.objective import CallLimits, Clock
from proce.objective.limits import Limits
from proce.schema import Codec
from proce.schema.codec import entries_on_step


def limits_in_truth(codec: Codec, factual: Array, *, leads_only: bool = False) -> Limits:
    """Return what people ``(i, f)`` may do in the true world.

    A number may go as far as any training row, and time may pass, however long. What is told to
    wait may be any feature that waits; with ``leads_only`` it is the one that all others follow.
    """
    clock = Clock.of(codec)
    waits = clock.years > 0
    if leads_only:
        waits &= np.arange(len(waits)) == clock.lead
    limits = CallLimits.read(codec).widened().of_rows(codec, factual)
    return replace(limits, movable=limits.movable | (waits & ~codec.missing(factual)))


def reach(
    truth: StructuralCausalModel, factual: Array, rows: Array, residual: Array, by_hand: Array
) -> Array:
    """Return where actions in rows ``(i, c, f)`` lead in the true world.

    As in the draw of a data set, numbers that follow are rounded to their step as they arise, so
    that what follows from them follows from what is seen: nobody has a third of a dollar of debt.
    Who waits gets older in all that waits.

    Parameters
    ----------
    truth
        The true equations.
    factual, residual
        ``(i, f)`` and ``(i, w)``, the people as they are, and the noise of each.
    rows, by_hand
        ``(i, c, f)``, values, and which of them are set or held; anything may stand elsewhere.
    """
    clock = Clock.of(truth.codec)
    start = clock.advance(np.where(by_hand, rows, factual[:, None]), factual)
    effects = truth.program.effects.copy()
    effects["link"] = Link.GIVEN  # every effect is asked for, so that it can be rounded

    def outcome(position: int, columns: Array, noise: Array) -> Array:
        return outcome_on_step(truth, position, columns, noise)

    flags = clock.with_others(np.broadcast_to(by_hand, start.shape))
    program = truth.program._replace(effects=effects)
    return propagate(program, outcome, start, residual[None], flags)[0]


def outcome_on_step(
    truth: StructuralCausalModel, position: int, columns: Array, noise: Array
) -> Array:
    """Return :meth:`StructuralCausalModel.outcome` with numbers rounded to their step."""
    # Onto its multiples, where the draw of the data puts everybody; advice goes by whole steps
    # from where a person is, who need not stand on one of them (as `kernels._rounded` does).
    return entries_on_step(truth.codec, position, truth.outcome(position, columns, noise))
