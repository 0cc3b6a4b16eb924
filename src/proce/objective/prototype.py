"""How typical a candidate is of the target class (Eq. 6)."""

from torch import Tensor

from proce.latent import AutoEncoder


def prototype_loss(rows: Tensor, prototype: Tensor, autoencoder: AutoEncoder) -> Tensor:
    """Return the squared latent distance of rows ``(i, c, f)`` to their prototypes (Eq. 6).

    The loss is zero where a candidate encodes onto its prototype. It is divided by the latent
    size, so that the size does not change the scale.
    """
    offset = autoencoder.encode(rows) - prototype[:, None, :]  # (i, c, e)
    return offset.square().mean(-1).double()
