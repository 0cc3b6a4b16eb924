"""A variational auto-encoder of mixed rows, conditioned on what never moves.

After Pawelczyk, Broelemann and Kasneci 2020 (arXiv:1910.09398) and the likelihoods by type of
Nazabal et al. 2020: numbers are Gaussian with a scale of their own, levels categorical, ordinal
ones too.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from proce.arguments import check_count, check_fields
from proce.errors import SchemaError
from proce.latent.row_network import RowNetwork
from proce.latent.training import MAX_WIDTH
from proce.schema import MISSING_LEVEL, Codec
from proce.training import EpochCallback, TrainingRecord, TrainingSettings, random_stream, train

_HALF_LOG_2PI = math.log(2 * math.pi) / 2
_MIN_SCALE = 0.1  # of a number's standard deviation: without it a spike in the data has any density
_MAX_STEPS = 6_000  # of the optimiser, at most, where no schedule is given


@dataclass(frozen=True, slots=True)
class VariationalSettings:
    """The size of the latent space, and how it is learned.

    Attributes
    ----------
    latent_size
        Dimensions of the latent space; ``None`` for one per feature that moves, at most 16.
    hidden_size
        Width of the two hidden layers on either side.
    kl_weight
        The weight of the divergence from the prior, beside the likelihood of the row; with 1 the
        loss is the bound on the evidence.
    warm_up
        The share of all epochs over which that weight grows from zero, so that latents are used
        before they are made alike.
    training
        How long and how fast; ``None`` for at most 6,000 steps, however many rows there are.
    """

    latent_size: int | None = None
    hidden_size: int = 128
    kl_weight: float = 0.3
    warm_up: float = 0.3
    training: TrainingSettings | None = None

    def __post_init__(self) -> None:
        check_fields(self, SchemaError)
        for name, value in (("latent_size", self.latent_size), ("hidden_size", self.hidden_size)):
            if value is not None:
                check_count(name, value, SchemaError, maximum=MAX_WIDTH)
        if not 0 < self.kl_weight < math.inf:
            raise SchemaError(f"kl_weight is {self.kl_weight!r}; expected a number above 0.")
        if not 0 <= self.warm_up <= 1:
            raise SchemaError(f"warm_up is {self.warm_up!r}; expected a share from 0 to 1.")

    def schedule(self, n_rows: int) -> TrainingSettings:
        """Return how long and how fast the network learns from so many rows."""
        if self.training is not None:
            return self.training
        batch_size = min(512, max(32, n_rows // 64))
        n_epochs = max(1, _MAX_STEPS * batch_size // n_rows)
        patience = max(6, n_epochs // 8)
        return TrainingSettings(
            n_epochs, batch_size, 3e-3, patience=patience, halve_after=max(2, patience // 3)
        )


class VariationalAutoEncoder(RowNetwork):
    """Rows to distributions of latents, and latents back to rows; see :func:`fit_variational`.

    Parameters
    ----------
    codec
        The codec of the rows.
    given
        The positions of the features that it is conditioned on; may be none.
    latent_size, hidden_size
        As in :class:`VariationalSettings`.

    Attributes
    ----------
    centre, spread
        ``(f,)``, the mean and the standard deviation of the numbers of the rows that it was
        trained on; 0 and 1 for levels.
    """

    centre: Tensor
    spread: Tensor

    def __init__(
        self, codec: Codec, given: Sequence[int], latent_size: int, hidden_size: int
    ) -> None:
        super().__init__(codec)
        self.latent_size = latent_size
        self.is_given = torch.zeros(len(codec.schema), dtype=torch.bool)
        self.is_given[list(given)] = True
        self.encoder = _layers(self.n_inputs, hidden_size, 2 * latent_size)
        self.decoder = _layers(latent_size + self.n_inputs, hidden_size, self.n_outputs)
        self.log_scale = nn.Parameter(torch.full((len(self._numbers),), -1.0))
        self.register_buffer("centre", torch.zeros(len(codec.schema)))
        self.register_buffer("spread", torch.ones(len(codec.schema)))

    def measure(self, rows: Tensor) -> None:
        """Set centre and spread to those of training rows ``(i, f)``."""
        for position in self._numbers:
            known = rows[~rows[:, position].isnan(), position]
            self.centre[position] = known.mean()
            self.spread[position] = known.std() if len(known) > 1 and known.std() > 0 else 1.0

    @property
    def scale(self) -> Tensor:
        """The standard deviation ``(r,)`` of each number around its decoded value, in spreads."""
        return self.log_scale.exp().clamp(min=_MIN_SCALE)

    def posterior(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean and the log variance ``(…, e)`` of the latents of rows ``(…, f)``."""
        encoded = self.encoder(self.inputs(self.standardised(rows)))
        mean, log_variance = torch.chunk(encoded, 2, dim=-1)
        return mean, log_variance.clamp(-12, 6)

    def outputs(self, latents: Tensor, rows: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the decoded latents ``(…, e)``, given the fixed features of rows.

        Numbers are in units of their spread, from their centre; levels are logits.
        """
        given = torch.where(self.is_given, self.standardised(rows), self.unknown)
        condition = self.inputs(given).expand(*latents.shape[:-1], -1)
        return self.split_outputs(self.decoder(torch.cat([latents, condition], dim=-1)))

    def decode(self, latents: Tensor, rows: Tensor) -> Tensor:
        """Return the likeliest rows ``(…, f)`` of latents; given features are those of the rows."""
        with torch.no_grad():
            numbers, logits = self.outputs(latents, rows)
            decoded = rows.expand(*latents.shape[:-1], -1).clone()
            positions = self._numbers
            raw = self.centre[positions] + self.spread[positions] * numbers
            decoded[..., positions] = raw.to(decoded)
            for name, logit in logits.items():
                decoded[..., self.codec.schema.position(name)] = logit.argmax(-1).to(decoded)
            return torch.where(self.is_given, rows, decoded)

    def standardised(self, rows: Tensor) -> Tensor:
        """Return rows ``(…, f)`` with numbers from their centre, in units of their spread."""
        return (rows - self.centre) / self.spread


def fit_variational(
    codec: Codec,
    rows: Tensor,
    given: Sequence[int],
    settings: VariationalSettings | None = None,
    *,
    seed: int = 0,
    progress: EpochCallback | None = None,
) -> tuple[VariationalAutoEncoder, TrainingRecord]:
    """Learn the rows' distribution given some features; the same seed gives the same weights.

    Parameters
    ----------
    codec
        The codec of the rows.
    rows
        ``(i, f)``, at least two; cells may be missing, and do not count then.
    given
        The positions of the features that it is conditioned on.
    settings
        Sizes and schedule.
    seed
        Decides the weights, the split, the shuffling and the noise.
    progress
        Called after each epoch; it stops the training by returning False.

    Returns
    -------
    tuple of VariationalAutoEncoder and TrainingRecord
        In evaluation mode and in double precision, so that a row is decoded alike in any batch.
    """
    if len(rows) < 2:
        raise SchemaError(
            f"an auto-encoder needs at least 2 rows to learn from, and got {len(rows)};"
            " give more rows."
        )
    settings = settings or VariationalSettings()
    latent_size = settings.latent_size or max(1, min(16, len(codec.schema) - len(given)))
    with random_stream(seed) as generator:
        network = VariationalAutoEncoder(codec, given, latent_size, settings.hidden_size)
        network.measure(rows)
        goal = EvidenceLoss(network, rows, settings, generator)
        schedule = settings.schedule(len(rows))
        record = train(network, goal, len(rows), schedule, generator, progress)
    return network.double().requires_grad_(False), record


class EvidenceLoss:
    """The mean negative lower bound on the log likelihood of rows; the weight warms up."""

    def __init__(
        self,
        network: VariationalAutoEncoder,
        rows: Tensor,
        settings: VariationalSettings,
        generator: torch.Generator,
    ) -> None:
        self.network, self.rows, self.generator = network, rows.contiguous(), generator
        self.kl_weight = settings.kl_weight
        n_epochs = settings.schedule(len(rows)).n_epochs
        self.n_warm_up_rows = settings.warm_up * n_epochs * len(rows)
        self.n_seen = 0
        self.fixed_noise = torch.randn(len(rows), network.latent_size, generator=generator)

    def __call__(self, positions: Tensor) -> Tensor:
        rows = self.rows[positions]
        mean, log_variance = self.network.posterior(rows)
        noise = self.fixed_noise[positions]  # so that epochs differ by the weights alone
        if self.network.training:
            noise = torch.randn(mean.shape, generator=self.generator)
        latents = mean + noise * (log_variance / 2).exp()
        divergence = (mean.square() + log_variance.exp() - 1 - log_variance).sum() / 2
        likelihood_loss = negative_log_likelihood(self.network, latents, rows)
        loss = likelihood_loss + self.divergence_weight(len(rows)) * divergence
        return loss / len(rows)

    def divergence_weight(self, n_rows: int) -> float:
        """Return the weight of the divergence for the next rows; it warms up in training."""
        if not self.network.training:
            return self.kl_weight
        self.n_seen += n_rows
        return self.kl_weight * min(1.0, self.n_seen / max(1.0, self.n_warm_up_rows))


def negative_log_likelihood(
    network: VariationalAutoEncoder, latents: Tensor, rows: Tensor
) -> Tensor:
    """Return the negative log likelihood of the rows' moving cells under latents, summed."""
    predicted, logits = network.outputs(latents, rows)
    schema, moves = network.codec.schema, ~network.is_given
    numbers = [p for p, f in enumerate(schema) if f.name not in logits]
    expected = network.standardised(rows)[:, numbers].to(predicted)
    counted = ~expected.isnan() & moves[numbers]
    offset = (predicted - expected.nan_to_num(nan=0.0)) / network.scale
    total = (offset.square() / 2 + network.scale.log() + _HALF_LOG_2PI).where(counted, 0.0).sum()
    for name, logit in logits.items():
        position = schema.position(name)
        if moves[position]:
            codes = rows[:, position].long()
            total = total + cross_entropy(logit, codes, ignore_index=MISSING_LEVEL, reduction="sum")
    return total


def _layers(n_inputs: int, hidden_size: int, n_outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(n_inputs, hidden_size),
        nn.ReLU(),
        nn.Linear(hidden_size, hidden_size),
        nn.ReLU(),
        nn.Linear(hidden_size, n_outputs),
    )
