"""A latent space for mixed rows: the encoder Q_phi of the paper, its decoder and embeddings."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from proce.compiled.engine import use_kernels
from proce.compiled.gpu.engine import use_triton
from proce.compiled.row_network import RowNetworkArrays
from proce.errors import SchemaError
from proce.latent.row_network import RowNetwork
from proce.schema import Codec
from proce.training import random_stream


@dataclass(frozen=True)
class Reconstruction:
    """The decoded latents of rows: numbers on the unit range, levels as probabilities.

    Attributes
    ----------
    units
        ``(…, r)``, the continuous features in the schema's order.
    probabilities
        ``(…, levels)`` by the name of each ordinal or categorical feature.
    """

    units: Tensor
    probabilities: dict[str, Tensor]


class AutoEncoder(RowNetwork):
    """Rows to latents and back; made by :func:`proce.latent.fit_autoencoder`.

    Parameters
    ----------
    codec
        The codec of the rows.
    latent_size
        E of the paper.
    hidden_size
        The width of the hidden layer on either side.
    """

    def __init__(self, codec: Codec, latent_size: int, hidden_size: int) -> None:
        super().__init__(codec)
        self.latent_size = latent_size
        self.encoder = nn.Sequential(
            nn.Linear(self.n_inputs, hidden_size), nn.ReLU(), nn.Linear(hidden_size, latent_size)
        )
        self.decoder = nn.Sequential(
            nn.Linear(latent_size, hidden_size), nn.ReLU(), nn.Linear(hidden_size, self.n_outputs)
        )
        self._learned = tuple(self.parameters())
        self._compiled: dict[bool, tuple[Hashable, RowNetworkArrays]] = {}

    @property
    def weights(self) -> dict[str, Tensor]:
        """The learned weights by name; :meth:`of_weights` makes the same auto-encoder from them."""
        return {name: values.detach().cpu().clone() for name, values in self.named_parameters()}

    @classmethod
    def of_weights(cls, codec: Codec, weights: Mapping[str, Tensor]) -> "AutoEncoder":
        """Return an auto-encoder in evaluation mode that was trained before.

        Parameters
        ----------
        codec
            The codec of the rows that it was trained on.
        weights
            The :attr:`weights` of the trained auto-encoder.
        """
        last = weights.get("encoder.2.weight", torch.empty(0))
        if last.ndim != 2 or not last.numel():
            raise SchemaError("these are not the weights of an auto-encoder.")
        with random_stream(0):
            autoencoder = cls(codec, *last.shape)
        own = dict(autoencoder.named_parameters())
        if {k: v.shape for k, v in own.items()} != {k: v.shape for k, v in weights.items()}:
            raise SchemaError("these are the weights of an auto-encoder of other features.")
        with torch.no_grad():
            for name, values in own.items():
                values.copy_(weights[name])
        return autoencoder.eval().requires_grad_(False)

    def encode(self, rows: Tensor) -> Tensor:
        """Return the latents ``(…, e)`` of rows ``(…, f)``, as float32, on the rows' device.

        On the CPU they come from compiled kernels, and those of a row do not depend on its batch.
        """
        arrays = self.encoder_arrays(rows.device)
        if arrays is not None:
            return arrays.outputs(rows)
        with torch.no_grad():
            latents: Tensor = self.encoder(self.inputs(rows))
            return latents.to(rows.device)

    def encoder_arrays(self, device: torch.device) -> RowNetworkArrays | None:
        """Return the encoder for the kernels; ``None`` where rows of this device have none."""
        return self.arrays() if self._has_kernel(device) else None

    def reconstruct(self, rows: Tensor) -> Reconstruction:
        """Return the rows as the decoder rebuilds them from their latents."""
        with torch.no_grad():
            if self._has_kernel(rows.device):
                outputs = self.arrays(with_decoder=True).outputs(rows)
            else:
                outputs = self.decoder(self.encoder(self.inputs(rows))).to(rows.device)
            units, logits = self.split_outputs(outputs)
            return Reconstruction(units, {name: own.softmax(-1) for name, own in logits.items()})

    def embed(self, name: str, codes: Tensor) -> Tensor:
        """Return the embeddings ``(…, d)`` of a categorical feature's level codes ``(…)``."""
        position = self.codec.schema.position(name)
        if position not in self._coded:
            kind = self.codec.schema[name].kind
            raise SchemaError(f"feature {name!r} is {kind}; only categorical ones are embedded.")
        start = self._starts[self._coded.index(position)]
        with torch.no_grad():
            rows: Tensor = self.embeddings(codes.long().to(start.device) + start)
            return rows.to(codes.device)

    def outputs(self, latents: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the decoder's numbers and level logits for latents; autograd runs through."""
        return self.split_outputs(self.decoder(latents))

    def arrays(self, *, with_decoder: bool = False) -> RowNetworkArrays:
        """Return the encoder as flat arrays, or both halves: made again where a weight changed."""
        version = tuple((weights.data_ptr(), weights._version) for weights in self._learned)
        known = self._compiled.get(with_decoder)
        if known is None or known[0] != version:
            first, *others = [*self.encoder, *self.decoder] if with_decoder else [*self.encoder]
            assert isinstance(first, nn.Linear)
            made = RowNetworkArrays.of(self.cell_inputs(first), first.bias, others)
            self._compiled[with_decoder] = known = version, made
        return known[1]

    def _has_kernel(self, device: torch.device) -> bool:
        """Return whether kernels compute rows of this device, where all weights are in float32."""
        plain = all(own.device == device and own.dtype == torch.float32 for own in self._learned)
        return plain and (use_kernels(device) or use_triton(device))
