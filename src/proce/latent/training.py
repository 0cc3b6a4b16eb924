"""Learn the networks of latent spaces from training rows: what needs PyTorch."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from proce.arrays import Array, Floats
from proce.errors import SchemaError
from proce.latent.autoencoder import (
    HIGHEST_LOG_VARIANCE,
    LOWEST_LOG_VARIANCE,
    AutoEncoder,
    AutoEncoderSettings,
    VariationalAutoEncoder,
    VariationalSettings,
)
from proce.latent.columns import NetworkColumns
from proce.schema import MISSING_LEVEL, Codec
from proce.training import random_stream, train
from proce.training_settings import EpochCallback, TrainingRecord


class RowModule(nn.Module):
    """A module with the inputs and the outputs of :class:`~proce.latent.columns.NetworkColumns`."""

    _starts: Tensor  # (coded,)

    def __init__(self, columns: NetworkColumns) -> None:
        super().__init__()
        self.columns = columns
        self.register_buffer("_starts", torch.tensor(columns.starts), persistent=False)
        # all features' levels, stacked
        self.embeddings = nn.Embedding(columns.n_embedded, columns.embedding_size)

    def read(self, rows: Array) -> Tensor:
        """Return the cells ``(n, 2f)`` of rows, in the network's precision and on its device."""
        return torch.from_numpy(self.columns.read(rows)).to(self.embeddings.weight)

    def inputs(self, cells: Tensor) -> Tensor:
        """Return the network's inputs for the cells ``(…, 2f)`` of rows."""
        coded = self.columns.coded
        sizes = [len(self.columns.plain), len(coded), len(self.columns.unknown)]
        plain, codes, missing = torch.split(cells, sizes, dim=-1)
        embedded = self.embeddings(codes.long() + self._starts)  # (…, coded, d)
        embedded = embedded * (1 - missing[..., coded, None])
        return torch.cat([plain, embedded.flatten(-2), missing], dim=-1)

    def numbers(self, cells: Tensor) -> tuple[Tensor, Tensor]:
        """Return the numbers ``(…, r)`` in the cells of rows, and which of them are known."""
        places = [self.columns.plain.index(position) for position in self.columns.numbers]
        flags = [len(self.columns.unknown) + position for position in self.columns.numbers]
        return cells[..., places], cells[..., flags] == 0

    def split_outputs(self, outputs: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the numbers ``(…, r)`` and the level logits by feature in outputs ``(…, o)``."""
        units, *logits = torch.split(outputs, self.columns.output_sizes, dim=-1)
        return units, dict(zip(self.columns.n_levels, logits, strict=True))

    def learned_arrays(self) -> dict[str, Array]:
        """Return what was learned, as arrays by name."""
        return {name: part.detach().cpu().numpy().copy() for name, part in self.named_parameters()}


_NUMBER_WEIGHT = 30.0  # so that an error of 0.18 on the unit range counts like one nat of a level


class AutoEncoderModule(RowModule):
    """An auto-encoder while it is learned."""

    def __init__(self, codec: Codec, latent_size: int, hidden_size: int) -> None:
        super().__init__(NetworkColumns(codec))
        n_inputs, n_outputs = self.columns.n_inputs, self.columns.n_outputs
        self.encoder = _layers(n_inputs, hidden_size, latent_size)
        self.decoder = _layers(latent_size, hidden_size, n_outputs)

    def outputs(self, latents: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the decoder's numbers and level logits for latents; autograd runs through."""
        return self.split_outputs(self.decoder(latents))


def fit_autoencoder(
    codec: Codec,
    rows: Array,  # ``(i, f)``, at least two; cells may be missing, and do not count then
    settings: AutoEncoderSettings | None = None,
    *,
    seed: int = 0,
    device: str = "cpu",
    progress: EpochCallback | None = None,
) -> tuple[AutoEncoder, TrainingRecord]:
    """Learn a latent space of the rows; the same seed gives the same weights."""
    _refuse_too_few(rows, "give more rows, or a class that has some")
    settings = settings or AutoEncoderSettings()
    latent_size, hidden_size = settings.sizes(len(codec.schema))
    with random_stream(seed) as generator:
        module = AutoEncoderModule(codec, latent_size, hidden_size).to(device)
        schedule = settings.schedule(len(rows))
        goal = _Denoising(module, rows, settings, generator)
        record = train(module, goal, len(rows), schedule, generator, progress)
    return AutoEncoder.of_weights(codec, module.learned_arrays()), record


class _Denoising:
    """The mean loss of rows that are rebuilt from a damaged copy of themselves."""

    def __init__(
        self,
        module: AutoEncoderModule,
        rows: Array,
        settings: AutoEncoderSettings,
        generator: torch.Generator,
    ) -> None:
        self.module, self.rows, self.settings = module, rows, settings
        self.generator = generator
        self.expected, self.is_known = module.numbers(module.read(rows))
        self.codes = torch.tensor(rows[:, module.columns.levels]).long().to(self.expected.device)

    def __call__(self, positions: Tensor) -> Tensor:
        rows = self.rows[positions.numpy()]
        if self.module.training:
            rows = self._damaged(rows)
        latents = self.module.encoder(self.module.inputs(self.module.read(rows)))
        units, logits = self.module.outputs(latents)
        positions = positions.to(self.expected.device)
        offset = torch.where(self.is_known[positions], units - self.expected[positions], 0.0)
        loss = _NUMBER_WEIGHT * offset.square().sum()
        codes = self.codes[positions].unbind(-1)
        for logit, code in zip(logits.values(), codes, strict=True):
            loss = loss + cross_entropy(logit, code, ignore_index=MISSING_LEVEL, reduction="sum")
        return loss / len(positions)

    def _damaged(self, rows: Array) -> Array:
        """Return rows of a batch, which are their own copy, with noise and more cells missing."""
        columns = self.module.columns
        shape = (len(rows), len(columns.numbers))
        noise = self.settings.jitter * torch.randn(shape, generator=self.generator)
        rows[:, columns.numbers] += noise.numpy()
        masked = torch.rand(rows.shape, generator=self.generator) < self.settings.masked
        return np.where(masked.numpy(), columns.unknown, rows)


_HALF_LOG_2PI = math.log(2 * math.pi) / 2
_MIN_SCALE = 0.1  # of a number's standard deviation: without it a spike in the data has any density


class ReadRows(NamedTuple):
    """Rows as the network takes them."""

    # ``(…, 2f)``, the cells of the rows, and those of rows of which only what the network is
    # conditioned on is known
    cells: Tensor
    given: Tensor
    codes: Tensor  # ``(…, l)``, the codes of all features that have levels


class VariationalModule(RowModule):
    """A variational auto-encoder while it is learned."""

    def __init__(
        self, columns: NetworkColumns, given: Sequence[int], latent_size: int, hidden_size: int
    ) -> None:
        super().__init__(columns)
        self.latent_size = latent_size
        self.is_given = np.zeros(len(columns.codec.schema), np.bool_)
        self.is_given[list(given)] = True
        n_inputs, n_outputs = columns.n_inputs, columns.n_outputs
        self.encoder = _layers(n_inputs, hidden_size, hidden_size, 2 * latent_size)
        self.decoder = _layers(latent_size + n_inputs, hidden_size, hidden_size, n_outputs)
        self.log_scale = nn.Parameter(torch.full((len(columns.numbers),), -1.0))

    def read_parts(self, rows: Array) -> ReadRows:
        """Return rows ``(n, f)`` as the network takes them."""
        given = np.where(self.is_given, rows, self.columns.unknown)
        codes = torch.tensor(rows[:, self.columns.levels]).long()
        return ReadRows(self.read(rows), self.read(given), codes)

    @property
    def scale(self) -> Tensor:
        """The standard deviation ``(r,)`` of each number around its decoded value, in spreads."""
        return self.log_scale.exp().clamp(min=_MIN_SCALE)

    def posterior(self, cells: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean and the log variance ``(…, e)`` of the latents of cells ``(…, 2f)``."""
        mean, log_variance = torch.chunk(self.encoder(self.inputs(cells)), 2, dim=-1)
        return mean, log_variance.clamp(LOWEST_LOG_VARIANCE, HIGHEST_LOG_VARIANCE)

    def outputs(self, latents: Tensor, given: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the decoded latents ``(…, e)``, given the cells of what is known of rows."""
        # Numbers are in units of their spread, from their centre; levels are logits.
        condition = self.inputs(given).expand(*latents.shape[:-1], -1)
        return self.split_outputs(self.decoder(torch.cat([latents, condition], dim=-1)))

    def learned(self) -> VariationalAutoEncoder:
        """Return what was learned, as arrays of double precision."""
        weights = {name: own.astype(np.float64) for name, own in self.learned_arrays().items()}
        columns = self.columns
        return VariationalAutoEncoder(
            columns.codec, self.is_given, columns.centre, columns.spread, weights
        )


def fit_variational(
    codec: Codec,
    rows: Array,  # ``(i, f)``, at least two; cells may be missing, and do not count then
    given: Sequence[int],
    settings: VariationalSettings | None = None,
    *,
    seed: int = 0,
    progress: EpochCallback | None = None,
) -> tuple[VariationalAutoEncoder, TrainingRecord]:
    """Learn the rows' distribution given some features; the same seed gives the same weights."""
    _refuse_too_few(rows, "give more rows")
    settings = settings or VariationalSettings()
    latent_size = settings.latent_size or max(1, min(16, len(codec.schema) - len(given)))
    with random_stream(seed) as generator:
        columns = NetworkColumns(codec, *_centre_and_spread(codec, rows))
        module = VariationalModule(columns, given, latent_size, settings.hidden_size)
        goal = EvidenceLoss(module, rows, settings, generator)
        schedule = settings.schedule(len(rows))
        record = train(module, goal, len(rows), schedule, generator, progress)
    return module.learned(), record


class EvidenceLoss:
    """The mean negative lower bound on the log likelihood of rows; the weight warms up."""

    def __init__(
        self,
        module: VariationalModule,
        rows: Array,
        settings: VariationalSettings,
        generator: torch.Generator,
    ) -> None:
        self.module, self.rows, self.generator = module, module.read_parts(rows), generator
        self.kl_weight = settings.kl_weight
        n_epochs = settings.schedule(len(rows)).n_epochs
        self.n_warm_up_rows = settings.warm_up * n_epochs * len(rows)
        self.n_seen = 0
        self.fixed_noise = torch.randn(len(rows), module.latent_size, generator=generator)

    def __call__(self, positions: Tensor) -> Tensor:
        rows = ReadRows(*(part[positions] for part in self.rows))
        mean, log_variance = self.module.posterior(rows.cells)
        noise = self.fixed_noise[positions]  # so that epochs differ by the weights alone
        if self.module.training:
            noise = torch.randn(mean.shape, generator=self.generator)
        latents = mean + noise * (log_variance / 2).exp()
        divergence = (mean.square() + log_variance.exp() - 1 - log_variance).sum() / 2
        likelihood_loss = negative_log_likelihood(self.module, latents, rows)
        loss = likelihood_loss + self.divergence_weight(len(positions)) * divergence
        return loss / len(positions)

    def divergence_weight(self, n_rows: int) -> float:
        """Return the weight of the divergence for the next rows; it warms up in training."""
        if not self.module.training:
            return self.kl_weight
        self.n_seen += n_rows
        return self.kl_weight * min(1.0, self.n_seen / max(1.0, self.n_warm_up_rows))


def negative_log_likelihood(module: VariationalModule, latents: Tensor, rows: ReadRows) -> Tensor:
    """Return the negative log likelihood of the rows' moving cells under latents, summed."""
    predicted, logits = module.outputs(latents, rows.given)
    columns, moves = module.columns, ~module.is_given
    expected, is_known = module.numbers(rows.cells)
    counted = is_known & torch.from_numpy(moves[columns.numbers])
    offset = (predicted - expected) / module.scale
    total = (offset.square() / 2 + module.scale.log() + _HALF_LOG_2PI).where(counted, 0.0).sum()
    by_feature = zip(columns.levels, logits.values(), rows.codes.unbind(-1), strict=True)
    for position, logit, codes in by_feature:
        if moves[position]:
            total = total + cross_entropy(logit, codes, ignore_index=MISSING_LEVEL, reduction="sum")
    return total


def _centre_and_spread(codec: Codec, rows: Array) -> tuple[Floats, Floats]:
    """Return the mean and the standard deviation ``(f,)`` of numbers, as single as weights are."""
    centre, spread = np.zeros(rows.shape[1], np.float32), np.ones(rows.shape[1], np.float32)
    for position in np.flatnonzero(codec.is_number):
        known = rows[~np.isnan(rows[:, position]), position]
        centre[position] = known.mean()
        spread[position] = known.std(ddof=1) if len(known) > 1 and known.std() > 0 else 1.0
    return centre.astype(np.float64), spread.astype(np.float64)


def _layers(*sizes: int) -> nn.Sequential:
    """Return linear layers from each of some widths to the next, with ReLU between them."""
    layers = [part for ends in pairwise(sizes) for part in (nn.Linear(*ends), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


def _refuse_too_few(rows: Array, advice: str) -> None:
    if len(rows) < 2:
        raise SchemaError(
            f"an auto-encoder needs at least 2 rows to learn from, and got {len(rows)}; {advice}."
        )
