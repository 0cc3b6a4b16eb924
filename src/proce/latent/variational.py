"""A variational auto-encoder of mixed rows, conditioned on what never moves.

After Pawelczyk, Broelemann and Kasneci 2020 (arXiv:1910.09398) and the likelihoods by type of
Nazabal et al. 2020: numbers are Gaussian with a scale of their own, levels categorical, ordinal
ones too. Once learned, it is arrays; :mod:`proce.latent.variational_training` learns it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from proce.arrays import Array, Flags, Floats
from proce.compiled.cells import CellKind
from proce.compiled.row_network import CellInput, Layer, RowNetwork
from proce.latent.columns import NetworkColumns
from proce.schema import Codec

LOWEST_LOG_VARIANCE, HIGHEST_LOG_VARIANCE = -12.0, 6.0
_LAYERS = (0, 2, 4)  # positions of the linear layers of either half; ReLU stands between them


@dataclass(frozen=True, eq=False)
class VariationalAutoEncoder:
    """Rows to distributions of latents, and latents back to rows.

    Learned by :func:`proce.latent.fit_variational`. A row is decoded alike in any batch.

    Attributes
    ----------
    codec
        The codec of the rows.
    is_given
        ``(f,)``, which features the network is conditioned on.
    centre, spread
        ``(f,)``, the mean and the standard deviation of the numbers of the rows that it was
        trained on; 0 and 1 for levels.
    weights
        The learned arrays by name.
    """

    codec: Codec
    is_given: Flags
    centre: Floats
    spread: Floats
    weights: Mapping[str, Floats] = field(repr=False)

    @property
    def latent_size(self) -> int:
        """How many dimensions the latent space has."""
        return len(self.weights["encoder.4.bias"]) // 2

    @cached_property
    def columns(self) -> NetworkColumns:
        """How rows enter the encoder and leave the decoder."""
        return NetworkColumns(self.codec, self.centre, self.spread)

    @cached_property
    def encoder(self) -> RowNetwork:
        """From rows to the means and the log variances of their latents."""
        return self._half("encoder", [])

    @cached_property
    def decoder(self) -> RowNetwork:
        """From latents and what is given, in one row, to outputs."""
        weights = self.weights["decoder.0.weight"].T[: self.latent_size]
        return self._half(
            "decoder", [CellInput(CellKind.NUMBER, own[None], None) for own in weights]
        )

    def posterior(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return the mean and the log variance ``(…, e)`` of the latents of rows ``(…, f)``."""
        outputs = self.encoder.outputs(rows).astype(np.float64)
        mean, log_variance = np.split(outputs, 2, axis=-1)
        return mean, np.clip(log_variance, LOWEST_LOG_VARIANCE, HIGHEST_LOG_VARIANCE)

    def decode(self, latents: Floats, rows: Floats) -> Floats:
        """Return the likeliest rows ``(…, f)`` of latents ``(…, e)``.

        Given features are those of the rows, which are broadcast to the latents.
        """
        numbers, logits = self._outputs(latents, rows)
        decoded = np.broadcast_to(rows, (*latents.shape[:-1], rows.shape[-1])).copy()
        positions = self.columns.numbers
        decoded[..., positions] = self.centre[positions] + self.spread[positions] * numbers
        for name, logit in logits.items():
            decoded[..., self.codec.schema.position(name)] = logit.argmax(-1)
        return np.where(self.is_given, rows, decoded)

    def _outputs(self, latents: Floats, rows: Floats) -> tuple[Array, dict[str, Array]]:
        """Return the decoded latents ``(…, e)``, given the fixed features of rows.

        Numbers are in units of their spread, from their centre; levels are logits.
        """
        given = np.where(self.is_given, rows, self.columns.unknown)
        condition = np.broadcast_to(given, (*latents.shape[:-1], given.shape[-1]))
        outputs = self.decoder.outputs(np.concatenate([latents, condition], axis=-1))
        return self.columns.split_outputs(outputs.astype(np.float64))

    def _half(self, half: str, before: Sequence[CellInput]) -> RowNetwork:
        """Return one half; ``before`` are the cells that stand before those of a row."""
        (weights, bias), *others = [
            (self.weights[f"{half}.{layer}.weight"], self.weights[f"{half}.{layer}.bias"])
            for layer in _LAYERS
        ]
        cells = self.columns.cell_inputs(
            weights[:, len(before) :], self.weights["embeddings.weight"]
        )
        middle, last = (Layer(*part) for part in others)
        layers = [middle._replace(is_ramp=True), last]
        return RowNetwork.of([*before, *cells], bias, True, layers)
