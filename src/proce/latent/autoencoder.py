"""Latent spaces of mixed rows: the encoder Q_phi of the paper, its decoder, and prototypes.

A variational one is conditioned on what never moves, after Pawelczyk, Broelemann and Kasneci 2020
(arXiv:1910.09398) and the likelihoods by type of Nazabal et al. 2020: numbers are Gaussian with a
scale of their own, levels categorical, ordinal ones too. Once learned, both are arrays;
:mod:`proce.latent.training` learns them.

A prototype is the mean latent of a row's nearest rows in the target class (Eqs. 3-5). Eq. 3 takes
neighbours whose class is not the row's own; with more than two classes such a row need not be of
the target class, so they are those that are *predicted* as the target.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from proce.arguments import check_between, check_count, check_fields
from proce.arrays import Array, Flags, Floats, Ints, Singles, blocks
from proce.compiled.cells import CellKind
from proce.compiled.elementary import softmaxes
from proce.compiled.row_network import CellInput, Layer, RowNetwork
from proce.errors import ModelError, SchemaError
from proce.latent.columns import NetworkColumns
from proce.schema import Codec, Level
from proce.training_settings import TrainingSettings

MAX_WIDTH = 10_000  # of a layer: two of them are joined by 400 MB of weights
_N_STEPS = 2_000  # of the optimiser, where there are rows enough for them
_MIN_BATCH, _MAX_BATCH = 64, 256  # rows
_BATCHES_PER_EPOCH = 64  # where the size of a batch allows it
_MAX_EPOCHS = 60
_LEARNING_RATE = 0.02
_MAX_VARIATIONAL_STEPS = 6_000  # of the optimiser, at most, where no schedule is given


@dataclass(frozen=True, slots=True)
class AutoEncoderSettings:
    """The size of the latent space, and how it is learned."""

    latent_size: int | None = None  # E of the paper
    hidden_size: int | None = None  # Width of the hidden layers
    # The share of cells hidden from the encoder during training, so that it learns to fill them in:
    # the denoising, and how a missing cell looks
    masked: float = 0.05
    # Standard deviation of the noise on numbers during training, on the unit range
    jitter: float = 0.01
    training: TrainingSettings | None = None  # how long and how fast

    def __post_init__(self) -> None:
        check_fields(self, SchemaError)
        _check_sizes(self.latent_size, self.hidden_size)
        check_between("masked", self.masked, SchemaError, 0, 1)
        check_between("jitter", self.jitter, SchemaError, 0)

    @classmethod
    def paper(cls) -> "AutoEncoderSettings":
        """Return the authors' latent size, 256."""
        return cls(latent_size=256)

    def sizes(self, n_features: int) -> tuple[int, int]:
        """Return the latent and the hidden size for so many features."""
        latent = self.latent_size or min(64, 4 * n_features)
        return latent, self.hidden_size or min(256, 2 * latent)

    def schedule(self, n_rows: int) -> TrainingSettings:
        """Return how long and how fast the network learns from so many rows."""
        if self.training is not None:
            return self.training
        batch_size = min(_MAX_BATCH, max(_MIN_BATCH, n_rows // _BATCHES_PER_EPOCH))
        n_epochs = max(1, min(_MAX_EPOCHS, round(_N_STEPS * batch_size / n_rows)))
        return TrainingSettings(
            n_epochs, batch_size, _LEARNING_RATE, patience=n_epochs, schedule="cosine"
        )


@dataclass(frozen=True, slots=True)
class VariationalSettings:
    """The size of the latent space, and how it is learned."""

    latent_size: int | None = None  # Dimensions of the latent space
    hidden_size: int = 128  # Width of the two hidden layers on either side
    # The weight of the divergence from the prior, beside the likelihood of the row; with 1 the loss
    # is the bound on the evidence
    kl_weight: float = 0.3
    # The share of all epochs over which that weight grows from zero, so that latents are used
    # before they are made alike
    warm_up: float = 0.3
    training: TrainingSettings | None = None  # how long and how fast

    def __post_init__(self) -> None:
        check_fields(self, SchemaError)
        _check_sizes(self.latent_size, self.hidden_size)
        if not 0 < self.kl_weight < math.inf:
            raise SchemaError(f"kl_weight is {self.kl_weight!r}; expected a number above 0.")
        if not 0 <= self.warm_up <= 1:
            raise SchemaError(f"warm_up is {self.warm_up!r}; expected a share from 0 to 1.")

    def schedule(self, n_rows: int) -> TrainingSettings:
        """Return how long and how fast the network learns from so many rows."""
        if self.training is not None:
            return self.training
        batch_size = min(512, max(32, n_rows // 64))
        n_epochs = max(1, _MAX_VARIATIONAL_STEPS * batch_size // n_rows)
        patience = max(6, n_epochs // 8)
        return TrainingSettings(
            n_epochs, batch_size, 3e-3, patience=patience, halve_after=max(2, patience // 3)
        )


def _check_sizes(latent_size: int | None, hidden_size: int | None) -> None:
    for name, size in (("latent_size", latent_size), ("hidden_size", hidden_size)):
        if size is not None:
            check_count(name, size, SchemaError, maximum=MAX_WIDTH)


def _layer(weights: Mapping[str, Array], name: str) -> Layer:
    return Layer(weights[f"{name}.weight"], weights[f"{name}.bias"])


@dataclass(frozen=True)
class Reconstruction:
    """The decoded latents of rows: numbers on the unit range, levels as probabilities."""

    units: Singles  # ``(…, r)``, the continuous features in the schema's order
    # ``(…, levels)`` by the name of each ordinal or categorical feature
    probabilities: dict[str, Floats]


@dataclass(frozen=True, eq=False)
class AutoEncoder:
    """Rows to latents and back; learned by :func:`proce.latent.fit_autoencoder`."""

    # What a row gives does not depend on its batch.

    codec: Codec  # the codec of the rows
    weights: Mapping[str, Singles] = field(repr=False)  # the learned arrays by name

    @classmethod
    def of_weights(cls, codec: Codec, weights: Mapping[str, Singles]) -> "AutoEncoder":
        """Return an auto-encoder that was learned before."""
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
        return self._network([_layer(self.weights, "encoder.2")])

    @cached_property
    def _both_halves(self) -> RowNetwork:
        """The encoder and the decoder as flat arrays."""
        middle, ramp, last = (
            _layer(self.weights, name) for name in ("encoder.2", "decoder.0", "decoder.2")
        )
        return self._network([middle, ramp._replace(is_ramp=True), last])

    def _network(self, others: list[Layer]) -> RowNetwork:
        first = _layer(self.weights, "encoder.0")
        inputs = self.columns.cell_inputs(first.weights, self.weights["embeddings.weight"])
        return RowNetwork.of(inputs, first.bias, True, others)

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


LOWEST_LOG_VARIANCE, HIGHEST_LOG_VARIANCE = -12.0, 6.0


@dataclass(frozen=True, eq=False)
class VariationalAutoEncoder:
    """Rows to distributions of latents, and latents back to rows."""

    # Learned by :func:`proce.latent.fit_variational`. A row is decoded alike in any batch.

    codec: Codec  # the codec of the rows
    is_given: Flags  # ``(f,)``, which features the network is conditioned on
    # ``(f,)``, the mean and the standard deviation of the numbers of the rows that it was trained
    # on; 0 and 1 for levels
    centre: Floats
    spread: Floats
    weights: Mapping[str, Floats] = field(repr=False)  # the learned arrays by name

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
        """Return the likeliest rows ``(…, f)`` of latents ``(…, e)``."""
        # Given features are those of the rows, which are broadcast to the latents.
        numbers, logits = self._outputs(latents, rows)
        decoded = np.broadcast_to(rows, (*latents.shape[:-1], rows.shape[-1])).copy()
        positions = self.columns.numbers
        decoded[..., positions] = self.centre[positions] + self.spread[positions] * numbers
        for name, logit in logits.items():
            decoded[..., self.codec.schema.position(name)] = logit.argmax(-1)
        return np.where(self.is_given, rows, decoded)

    def _outputs(self, latents: Floats, rows: Floats) -> tuple[Array, dict[str, Array]]:
        """Return the decoded latents ``(…, e)``, given the fixed features of rows."""
        # Numbers are in units of their spread, from their centre; levels are logits.
        given = np.where(self.is_given, rows, self.columns.unknown)
        condition = np.broadcast_to(given, (*latents.shape[:-1], given.shape[-1]))
        outputs = self.decoder.outputs(np.concatenate([latents, condition], axis=-1))
        return self.columns.split_outputs(outputs.astype(np.float64))

    def _half(self, half: str, before: Sequence[CellInput]) -> RowNetwork:
        """Return one half; ``before`` are the cells that stand before those of a row."""
        # Linear layers stand at 0, 2 and 4 of either half, and ReLU between them.
        first, middle, last = (_layer(self.weights, f"{half}.{place}") for place in (0, 2, 4))
        own = first.weights[:, len(before) :]
        cells = self.columns.cell_inputs(own, self.weights["embeddings.weight"])
        layers = [middle._replace(is_ramp=True), last]
        return RowNetwork.of([*before, *cells], first.bias, True, layers)


_BLOCK_BYTES = 64 * 2**20  # of distances held at a time
_ROUNDING_EPSILONS = 64  # machine epsilons by which the product form of a distance may be off


@dataclass(frozen=True)
class Prototypes:
    """The prototypes of some rows."""

    latents: Array  # ``(q, e)``, the mean latent of the neighbours (Eq. 5)
    neighbours: Array  # ``(q, k)``, their positions among the training rows, the nearest first


class PrototypeIndex:
    """Training latents by predicted class, searched exactly."""

    def __init__(self, latents: Array, predicted: Array, classes: Sequence[Level]) -> None:
        self.classes = tuple(classes)
        self._rows = [np.flatnonzero(predicted == k) for k in range(len(self.classes))]
        self._latents = [latents[rows] for rows in self._rows]
        self._norms = [np.square(members).sum(-1) for members in self._latents]

    @property
    def sizes(self) -> Array:
        """How many training rows are predicted as each class, ``(k,)``."""
        return np.array([len(rows) for rows in self._rows])

    @property
    def members(self) -> tuple[Array, Array]:
        """The latents ``(n, e)`` and the predicted classes ``(n,)`` that it was made of."""
        positions, latents = np.concatenate(self._rows), np.concatenate(self._latents)
        predicted = np.concatenate([np.full_like(rows, k) for k, rows in enumerate(self._rows)])
        order = np.argsort(positions, kind="stable")
        return latents[order], predicted[order]

    def prototype(self, latent: Array, target: int, n_neighbours: int) -> Prototypes:
        """Return the prototypes of latents ``(q, e)`` for a class."""
        members, rows, norms = (part[target] for part in (self._latents, self._rows, self._norms))
        if not len(rows):
            raise ModelError(
                f"no training row is predicted as {self.classes[target]!r}, so it has no prototype."
                " Choose another target, or fit on rows that the model puts in that class."
            )
        count = min(n_neighbours, len(rows))
        block = max(1, _BLOCK_BYTES // (members.itemsize * len(rows)))
        parts = blocks(latent, block)
        nearest = np.concatenate([_nearest(part, members, norms, count) for part in parts])
        return Prototypes(members[nearest].mean(1), rows[nearest])


def _nearest(queries: Array, members: Array, norms: Array, count: int) -> Ints:
    """Return the positions ``(q, count)`` of the nearest members; ties go to the earlier."""
    # The product form of the distance is fast but rounds. It says which members could be among the
    # nearest, and those are compared by the difference form. ``norms (n,)`` are the squared lengths
    # of the members.
    own = np.square(queries).sum(-1, keepdims=True)  # (q, 1)
    rough = queries @ members.T  # (q, n)
    rough *= -2
    rough += norms
    rough += own
    rounding = _ROUNDING_EPSILONS * np.finfo(rough.dtype).eps * (own + norms.max())
    reached = np.partition(rough, count - 1, axis=1)[:, count - 1 : count]
    possible = rough <= reached + 2 * rounding
    nearest = np.empty((len(queries), count), np.int64)
    for position, query in enumerate(queries):
        candidates = np.flatnonzero(possible[position])
        nearest[position] = nearest_of(query, members, candidates, count)
    return nearest


def nearest_of(query: Array, members: Array, candidates: Ints, count: int) -> Ints:
    """Return the nearest ``(count,)`` of the candidates ``(k,)``, which are in order."""
    offset = query.astype(np.float64) - members[candidates]  # (k, e)
    order = np.argsort(np.square(offset).sum(-1), kind="stable")
    return candidates[order[:count]]
