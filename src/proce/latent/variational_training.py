"""Learn a variational auto-encoder of mixed rows: what needs PyTorch."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from proce.arrays import Array
from proce.errors import SchemaError
from proce.latent.row_module import RowModule
from proce.latent.settings import VariationalSettings
from proce.latent.variational import (
    HIGHEST_LOG_VARIANCE,
    LOWEST_LOG_VARIANCE,
    VariationalAutoEncoder,
)
from proce.schema import MISSING_LEVEL, Codec
from proce.training import random_stream, train
from proce.training_settings import EpochCallback, TrainingRecord

_HALF_LOG_2PI = math.log(2 * math.pi) / 2
_MIN_SCALE = 0.1  # of a number's standard deviation: without it a spike in the data has any density


class VariationalModule(RowModule):
    """A variational auto-encoder while it is learned.

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
        self.encoder = _layers(self.columns.n_inputs, hidden_size, 2 * latent_size)
        self.decoder = _layers(
            latent_size + self.columns.n_inputs, hidden_size, self.columns.n_outputs
        )
        self.log_scale = nn.Parameter(torch.full((len(self.columns.numbers),), -1.0))
        self.register_buffer("centre", torch.zeros(len(codec.schema)))
        self.register_buffer("spread", torch.ones(len(codec.schema)))

    def measure(self, rows: Tensor) -> None:
        """Set centre and spread to those of training rows ``(i, f)``."""
        for position in self.columns.numbers:
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
        return mean, log_variance.clamp(LOWEST_LOG_VARIANCE, HIGHEST_LOG_VARIANCE)

    def outputs(self, latents: Tensor, rows: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the decoded latents ``(…, e)``, given the fixed features of rows.

        Numbers are in units of their spread, from their centre; levels are logits.
        """
        given = torch.where(self.is_given, self.standardised(rows), self.unknown)
        condition = self.inputs(given).expand(*latents.shape[:-1], -1)
        return self.split_outputs(self.decoder(torch.cat([latents, condition], dim=-1)))

    def standardised(self, rows: Tensor) -> Tensor:
        """Return rows ``(…, f)`` with numbers from their centre, in units of their spread."""
        return (rows - self.centre) / self.spread

    def learned(self) -> VariationalAutoEncoder:
        """Return what was learned, as arrays of double precision."""
        weights = {name: own.astype(np.float64) for name, own in self.learned_arrays().items()}
        centre, spread = (part.double().numpy() for part in (self.centre, self.spread))
        return VariationalAutoEncoder(
            self.columns.codec, self.is_given.numpy(), centre, spread, weights
        )


def fit_variational(
    codec: Codec,
    rows: Array,
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
        The auto-encoder, with the weights that were best on held-out rows.
    """
    if len(rows) < 2:
        raise SchemaError(
            f"an auto-encoder needs at least 2 rows to learn from, and got {len(rows)};"
            " give more rows."
        )
    settings = settings or VariationalSettings()
    latent_size = settings.latent_size or max(1, min(16, len(codec.schema) - len(given)))
    with random_stream(seed) as generator:
        module = VariationalModule(codec, given, latent_size, settings.hidden_size)
        module.measure(torch.tensor(rows))
        goal = EvidenceLoss(module, torch.tensor(rows), settings, generator)
        schedule = settings.schedule(len(rows))
        record = train(module, goal, len(rows), schedule, generator, progress)
    return module.learned(), record


class EvidenceLoss:
    """The mean negative lower bound on the log likelihood of rows; the weight warms up."""

    def __init__(
        self,
        module: VariationalModule,
        rows: Tensor,
        settings: VariationalSettings,
        generator: torch.Generator,
    ) -> None:
        self.module, self.rows, self.generator = module, rows, generator
        self.kl_weight = settings.kl_weight
        n_epochs = settings.schedule(len(rows)).n_epochs
        self.n_warm_up_rows = settings.warm_up * n_epochs * len(rows)
        self.n_seen = 0
        self.fixed_noise = torch.randn(len(rows), module.latent_size, generator=generator)

    def __call__(self, positions: Tensor) -> Tensor:
        rows = self.rows[positions]
        mean, log_variance = self.module.posterior(rows)
        noise = self.fixed_noise[positions]  # so that epochs differ by the weights alone
        if self.module.training:
            noise = torch.randn(mean.shape, generator=self.generator)
        latents = mean + noise * (log_variance / 2).exp()
        divergence = (mean.square() + log_variance.exp() - 1 - log_variance).sum() / 2
        likelihood_loss = negative_log_likelihood(self.module, latents, rows)
        loss = likelihood_loss + self.divergence_weight(len(rows)) * divergence
        return loss / len(rows)

    def divergence_weight(self, n_rows: int) -> float:
        """Return the weight of the divergence for the next rows; it warms up in training."""
        if not self.module.training:
            return self.kl_weight
        self.n_seen += n_rows
        return self.kl_weight * min(1.0, self.n_seen / max(1.0, self.n_warm_up_rows))


def negative_log_likelihood(module: VariationalModule, latents: Tensor, rows: Tensor) -> Tensor:
    """Return the negative log likelihood of the rows' moving cells under latents, summed."""
    predicted, logits = module.outputs(latents, rows)
    schema, moves = module.columns.codec.schema, ~module.is_given
    numbers = [p for p, f in enumerate(schema) if f.name not in logits]
    expected = module.standardised(rows)[:, numbers].to(predicted)
    counted = ~expected.isnan() & moves[numbers]
    offset = (predicted - expected.nan_to_num(nan=0.0)) / module.scale
    total = (offset.square() / 2 + module.scale.log() + _HALF_LOG_2PI).where(counted, 0.0).sum()
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
