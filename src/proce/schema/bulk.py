"""Where the bulk of the rows ends, for what is learned from them."""

import torch
from torch import Tensor

from proce.schema.codec import Codec
from proce.schema.feature import Continuous

_BEYOND = 0.5  # of the unit range: farther outside lie the outliers


def bulk_ends(codec: Codec) -> Tensor:
    """Return the entries ``(2, f)`` between which values are learned from.

    They lie half a range outside of the unit range, and are infinite for levels and for numbers
    without any value out there.
    """
    number = torch.tensor([isinstance(feature, Continuous) for feature in codec.schema])
    far = number & ((codec.lowest < -_BEYOND) | (codec.highest > 1 + _BEYOND))
    low, high = torch.where(far, -_BEYOND, -torch.inf), torch.where(far, 1 + _BEYOND, torch.inf)
    return torch.stack([low, high]).double()
