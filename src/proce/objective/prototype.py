"""How typical a candidate is of the target class (Eq. 6)."""

from torch import Tensor
from torch.nn.functional import pad

from proce.latent import AutoEncoder

_BLOCK = 4  # rows that a product of matrices computes together; the rest of a batch goes otherwise


def prototype_loss(rows: Tensor, prototype: Tensor, autoencoder: AutoEncoder) -> Tensor:
    """Return the squared latent distance of rows ``(i, c, f)`` to their prototypes (Eq. 6).

    The loss is zero where a candidate encodes onto its prototype. It is divided by the latent
    size, so that the size does not change the scale. Where the encoder has no kernel, candidates
    are filled up to whole blocks, so that the last bit of a loss does not depend on what else is
    in the batch.
    """
    arrays = autoencoder.encoder_arrays(rows.device)
    if arrays is not None:
        return arrays.mean_squared_offsets(rows, prototype)
    n_candidates = rows.shape[1]
    whole = pad(rows, (0, 0, 0, -n_candidates % _BLOCK))
    offset = autoencoder.encode(whole)[:, :n_candidates] - prototype[:, None, :]  # (i, c, e)
    return offset.square().mean(-1).double()
