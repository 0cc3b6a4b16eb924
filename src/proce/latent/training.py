"""Fit an auto-encoder on training rows."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from proce.arguments import check_between, check_count, check_fields
from proce.errors import SchemaError
from proce.latent.autoencoder import AutoEncoder
from proce.latent.row_network import Cells
from proce.schema import MISSING_LEVEL, Categorical, Codec, Continuous
from proce.training import EpochCallback, TrainingRecord, TrainingSettings, random_stream, train

MAX_WIDTH = 10_000  # of a layer: two of them are joined by 400 MB of weights
_NUMBER_WEIGHT = 30.0  # so that an error of 0.18 on the unit range counts like one nat of a level
_N_STEPS = 2_000  # of the optimiser, where there are rows enough for them
_MIN_BATCH, _MAX_BATCH = 64, 256  # rows
_BATCHES_PER_EPOCH = 64  # where the size of a batch allows it
_MAX_EPOCHS = 60
_LEARNING_RATE = 0.02


@dataclass(frozen=True, slots=True)
class AutoEncoderSettings:
    """The size of the latent space, and how it is learned.

    Attributes
    ----------
    latent_size
        E of the paper; ``None`` for four times the number of features, at most 64.
    hidden_size
        Width of the hidden layers; ``None`` for twice the latent size, at most 256.
    masked
        The share of cells hidden from the encoder during training, so that it learns to
        fill them in: the denoising, and how a missing cell looks.
    jitter
        Standard deviation of the noise on numbers during training, on the unit range.
    training
        How long and how fast; ``None`` for about 2,000 steps, in smaller batches for fewer rows.
    """

    latent_size: int | None = None
    hidden_size: int | None = None
    masked: float = 0.05
    jitter: float = 0.01
    training: TrainingSettings | None = None

    def __post_init__(self) -> None:
        check_fields(self, SchemaError)
        for name, size in (("latent_size", self.latent_size), ("hidden_size", self.hidden_size)):
            if size is not None:
                check_count(name, size, SchemaError, maximum=MAX_WIDTH)
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


def fit_autoencoder(
    codec: Codec,
    rows: Tensor,
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
        Where the network is trained, and where the result stays.
    progress
        Called after each epoch; it stops the training by returning False.

    Returns
    -------
    tuple of AutoEncoder and TrainingRecord
        The auto-encoder is in evaluation mode, with the weights that were best on held-out rows.
    """
    if len(rows) < 2:
        raise SchemaError(
            f"an auto-encoder needs at least 2 rows to learn from, and got {len(rows)};"
            " give more rows, or a class that has some."
        )
    settings = settings or AutoEncoderSettings()
    latent_size, hidden_size = settings.sizes(len(codec.schema))
    with random_stream(seed) as generator:
        autoencoder = AutoEncoder(codec, latent_size, hidden_size).to(device)
        schedule = settings.schedule(len(rows))
        goal = _Denoising(autoencoder, rows, settings, generator)
        record = train(autoencoder, goal, len(rows), schedule, generator, progress)
    return autoencoder.requires_grad_(False), record


class _Denoising:
    """The mean loss of rows that are rebuilt from a damaged copy of themselves."""

    def __init__(
        self,
        autoencoder: AutoEncoder,
        rows: Tensor,
        settings: AutoEncoderSettings,
        generator: torch.Generator,
    ) -> None:
        self.autoencoder, self.settings, self.generator = autoencoder, settings, generator
        self.cells = autoencoder.cells(rows)
        self.device = self.cells.plain.device
        rows, features = rows.to(self.device), list(enumerate(autoencoder.codec.schema))
        numbers = [p for p, f in features if isinstance(f, Continuous)]
        levels = [p for p, f in features if not isinstance(f, Continuous)]
        plain = [p for p, f in features if not isinstance(f, Categorical)]
        self.number_columns = [plain.index(position) for position in numbers]
        self.expected = autoencoder.cut(rows)[:, numbers].float()
        self.codes = rows[:, levels].long()

    def __call__(self, positions: Tensor) -> Tensor:
        positions = positions.to(self.device)
        cells = Cells(*(part[positions] for part in self.cells))
        if self.autoencoder.training:
            cells = self._damaged(cells)
        latents = self.autoencoder.encoder(self.autoencoder.join(cells))
        units, logits = self.autoencoder.outputs(latents)
        expected = self.expected[positions]
        offset = torch.where(expected.isnan(), 0.0, units - expected)
        loss = _NUMBER_WEIGHT * offset.square().sum()
        codes = self.codes[positions].unbind(-1)
        for logit, code in zip(logits.values(), codes, strict=True):
            loss = loss + cross_entropy(logit, code, ignore_index=MISSING_LEVEL, reduction="sum")
        return loss / len(positions)

    def _damaged(self, cells: Cells) -> Cells:
        """Return cells of a batch, which are their own copy, with noise and more of them hidden."""
        shape = (len(cells.plain), len(self.number_columns))
        noise = self.settings.jitter * torch.randn(shape, generator=self.generator)
        cells.plain[:, self.number_columns] += noise.to(self.device)
        masked = torch.rand(cells.missing.shape, generator=self.generator) < self.settings.masked
        return cells._replace(missing=cells.missing | masked.to(self.device))
