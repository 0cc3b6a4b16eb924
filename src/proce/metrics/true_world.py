"""Where actions lead in the true world, whose equations are known."""

import torch
from torch import Tensor

from proce.causal import StructuralCausalModel
from proce.schema import Continuous


def reach(truth: StructuralCausalModel, rows: Tensor, residual: Tensor, by_hand: Tensor) -> Tensor:
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
    columns = list(rows.unbind(-1))
    residual = residual if rows.ndim == residual.ndim else residual[:, None, :]
    by_hand = by_hand.broadcast_to(rows.shape)
    for position in truth.effects:
        value, follows = truth.outcome(position, columns, residual)
        value = truth.tolerances.settle(
            position, on_step(truth, position, value), columns[position]
        )
        follows = follows & ~by_hand[..., position]
        columns[position] = torch.where(follows, value, columns[position])
    return torch.stack(columns, dim=-1)


def on_step(truth: StructuralCausalModel, position: int, value: Tensor) -> Tensor:
    """Return entries of a feature with numbers rounded to the step of the schema, if any."""
    feature = truth.codec.schema.features[position]
    if not isinstance(feature, Continuous) or feature.step is None:
        return value
    low, span = truth.codec.low[position].item(), truth.codec.span[position].item()
    raw = low + span * value
    return ((raw / feature.step).round() * feature.step - low) / span
