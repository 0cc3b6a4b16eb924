"""A latent space for mixed rows: the encoder Q_phi of the paper, its decoder and embeddings.

Once learned, an auto-encoder is arrays; :mod:`proce.latent.training` learns it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from proce.arrays import Array, Floats, Singles
from proce.compiled.elementary import softmaxes
from proce.compiled.row_network import Layer, RowNetwork
from proce.errors import SchemaError
from proce.latent.columns import NetworkColumns
from proce.schema import Codec


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

    units: Singles
    probabilities: dict[str, Floats]


@dataclass(frozen=True, eq=False)
class AutoEncoder:
    """Rows to latents and back; learned by :func:`proce.latent.fit_autoencoder`.

    What a row gives does not depend on its batch.

    Attributes
    ----------
    codec
        The codec of the rows.
    weights
        The learned arrays by name; :meth:`of_weights` makes the same auto-encoder from them.
    """

    codec: Codec
    weights: Mapping[str, Singles] = field(repr=False)

    @classmethod
    def of_weights(cls, codec: Codec, weights: Mapping[str, Singles]) -> "AutoEncoder":
        """Return an auto-encoder that was learned before.

        Parameters
        ----------
        codec
            The codec of the rows that it was trained on.
        weights
            The :attr:`weights` of the learned auto-encoder.
        """
        last = weights.get("encoder.2.weight", np.empty(0, np.float32))
        if last.ndim != 2 or not last.size:
            raise SchemaError("these are not the weights of an auto-encoder.")
        autoencoder = cls(codec, weights)
        columns, (latent_size, hidden_size) = autoencoder.columns, last.shape
        expected = {
            "embeddings.weight": (columns.n_embedded, columns.embedding_size),
            **_shapes("encoder", columns.n_inputs, hidden_size, latent_size),
            **_shapes("decoder", latent_size, hidden_size, columns.n_outputs),
        }
        if {name: own.shape for name, own in weights.items()} != expected:
            raise SchemaError("these are the weights of an auto-encoder of other features.")
        return autoencoder

    @property
    def latent_size(self) -> int:
        """E of the paper."""
        return len(self.weights["encoder.2.bias"])

    @cached_property
    def columns(self) -> NetworkColumns:
        """How rows enter the encoder and leave the decoder."""
        return NetworkColumns(self.codec)

    @cached_property
    def arrays(self) -> RowNetwork:
        """The encoder as flat arrays."""
        return self._network([self._layer("encoder.2")])

    @cached_property
    def _both_halves(self) -> RowNetwork:
        """The encoder and the decoder as flat arrays."""
        ramp = self._layer("decoder.0")._replace(is_ramp=True)
        return self._network([self._layer("encoder.2"), ramp, self._layer("decoder.2")])

    def _network(self, others: list[Layer]) -> RowNetwork:
        first = self._layer("encoder.0")
        inputs = self.columns.cell_inputs(first.weights, self.weights["embeddings.weight"])
        return RowNetwork.of(inputs, first.bias, True, others)

    def _layer(self, name: str) -> Layer:
        return Layer(self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def encode(self, rows: Floats) -> Singles:
        """Return the latents ``(…, e)`` of rows ``(…, f)``."""
        return self.arrays.outputs(rows)

    def reconstruct(self, rows: Floats) -> Reconstruction:
        """Return the rows as the decoder rebuilds them from their latents."""
        units, logits = self.columns.split_outputs(self._both_halves.outputs(rows))
        return Reconstruction(units, {name: softmaxes(own) for name, own in logits.items()})

    def embed(self, name: str, codes: Array) -> Singles:
        """Return the embeddings ``(…, d)`` of a categorical feature's level codes ``(…)``."""
        position = self.codec.schema.position(name)
        coded = self.columns.coded
        if position not in coded:
            kind = self.codec.schema[name].kind
            raise SchemaError(f"feature {name!r} is {kind}; only categorical ones are embedded.")
        start = self.columns.starts[coded.index(position)]
        embedded: Singles = self.weights["embeddings.weight"][np.asarray(codes, np.int64) + start]
        return embedded


def _shapes(
    half: str, n_inputs: int, hidden_size: int, n_outputs: int
) -> dict[str, tuple[int, ...]]:
    return {
        f"{half}.0.weight": (hidden_size, n_inputs),
        f"{half}.0.bias": (hidden_size,),
        f"{half}.2.weight": (n_outputs, hidden_size),
        f"{half}.2.bias": (n_outputs,),
    }
