"""Where actions lead in the true world, whose equations are known."""

import numpy as np

from proce.arrays import Array
from proce.causal import StructuralCausalModel
from proce.schema import Continuous


def reach(truth: StructuralCausalModel, rows: Array, residual: Array, by_hand: Array) -> Array:
    """Return where actions in rows ``(i, f)`` or ``(i, c, f)`` lead in the true world.

    As in the draw of a data set, numbers that follow are rounded to their step as they arise, so
    that what follows from them follows from what is seen: nobody has a third of a dollar of debt.

    Parameters
    ----------
    truth
        The true equations.
    rows
        The rows with the actions set, and anything where a feature follows.
    residual
        The noise of each person, ``(i, w)``.
    by_hand
        Flags of the rows' shape: what the person sets or holds, and what thus does not follow.
    """
    columns = np.array(np.moveaxis(rows, -1, 0))  # (f, …), a copy that is written to
    residual = residual if rows.ndim == residual.ndim else residual[:, None, :]
    by_hand = np.broadcast_to(by_hand, rows.shape)
    for position in truth.effects:
        value, follows = truth.outcome(position, columns, residual)
        own, value = columns[position], on_step(truth, position, value)
        rounding = truth.tolerances.rounding[position] * np.maximum(np.abs(own), 1)
        moves = follows & ~by_hand[..., position] & ~(np.abs(value - own) <= rounding)
        columns[position] = np.where(moves, value, own)
    return np.ascontiguousarray(np.moveaxis(columns, 0, -1))


def on_step(truth: StructuralCausalModel, position: int, value: Array) -> Array:
    """Return entries of a feature with numbers rounded to the step of the schema, if any."""
    feature = truth.codec.schema.features[position]
    if not isinstance(feature, Continuous) or feature.step is None:
        return value
    low, span = truth.codec.low[position].item(), truth.codec.span[position].item()
    raw = low + span * value
    return (np.rint(raw / feature.step) * feature.step - low) / span
