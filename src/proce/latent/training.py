"""Learn an auto-encoder from training rows: what needs PyTorch."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from proce.arrays import Array
from proce.errors import SchemaError
from proce.latent.autoencoder import AutoEncoder
from proce.latent.columns import NetworkColumns
from proce.latent.row_module import RowModule
from proce.latent.settings import AutoEncoderSettings
from proce.schema import MISSING_LEVEL, Codec
from proce.training import random_stream, train
from proce.training_settings import EpochCallback, TrainingRecord

_NUMBER_WEIGHT = 30.0  # so that an error of 0.18 on the unit range counts like one nat of a level


class AutoEncoderModule(RowModule):
    """An auto-encoder while it is learned.

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
        super().__init__(NetworkColumns(codec))
        n_inputs, n_outputs = self.columns.n_inputs, self.columns.n_outputs
        self.encoder = nn.Sequential(
            nn.Linear(n_inputs, hidden_size), nn.ReLU(), nn.Linear(hidden_size, latent_size)
        )
        self.decoder = nn.Sequential(
            nn.Linear(latent_size, hidden_size), nn.ReLU(), nn.Linear(hidden_size, n_outputs)
        )

    def outputs(self, latents: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the decoder's numbers and level logits for latents; autograd runs through."""
        return self.split_outputs(self.decoder(latents))


def fit_autoencoder(
    codec: Codec,
    rows: Array,
    settings: AutoEncoderSettings | None = None,
    *,
    seed: int = 0,
    device: str = "cpu",
    progress: EpochCallback | None = None,
) -> tuple[AutoEncoder, TrainingRecord]:
    """Learn a latent space of the rows; the same seed gives the same weights.

    Parameters
    ----------
    codec
        The codec of the rows.
    rows
        ``(i, f)``, at least two; cells may be missing, and do not count then.
        For an auto-encoder of one class (IM1, IM2), the rows of that class.
    settings
        Sizes and schedule.
    seed
        Decides the weights, the split, the shuffling and the noise.
    device
        Where the network is trained.
    progress
        Called after each epoch; it stops the training by returning False.

    Returns
    -------
    tuple of AutoEncoder and TrainingRecord
        The auto-encoder, with the weights that were best on held-out rows.
    """
    if len(rows) < 2:
        raise SchemaError(
            f"an auto-encoder needs at least 2 rows to learn from, and got {len(rows)};"
            " give more rows, or a class that has some."
        )
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
