"""Fit an auto-encoder on training rows."""

from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from proce.errors import SchemaError
from proce.latent.autoencoder import AutoEncoder
from proce.schema import MISSING_LEVEL, Codec, Continuous
from proce.training import EpochCallback, TrainingRecord, TrainingSettings, random_stream, train

_NUMBER_WEIGHT = 30.0  # so that an error of 0.18 on the unit range counts like one nat of a level


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
        How long and how fast.
    """

    latent_size: int | None = None
    hidden_size: int | None = None
    masked: float = 0.05
    jitter: float = 0.01
    training: TrainingSettings = field(
        default_factory=lambda: TrainingSettings(batch_size=512, learning_rate=5e-3)
    )

    def __post_init__(self) -> None:
        for name, size in (("latent_size", self.latent_size), ("hidden_size", self.hidden_size)):
            if size is not None and size < 1:
                raise SchemaError(f"{name} is {size}; expected a positive whole number.")

    @classmethod
    def paper(cls) -> "AutoEncoderSettings":
        """Return the authors' latent size, 256."""
        return cls(latent_size=256)

    def sizes(self, n_features: int) -> tuple[int, int]:
        """Return the latent and the hidden size for so many features."""
        latent = self.latent_size or min(64, 4 * n_features)
        return latent, self.hidden_size or min(256, 2 * latent)


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
        goal = _Denoising(autoencoder, rows, settings, generator)
        record = train(autoencoder, goal, len(rows), settings.training, generator, progress)
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
        self.device = next(autoencoder.parameters()).device
        self.rows = rows.contiguous()
        schema = autoencoder.codec.schema
        self.numbers = [p for p, f in enumerate(schema) if isinstance(f, Continuous)]
        self.levels = [(p, f.name) for p, f in enumerate(schema) if p not in self.numbers]

    def __call__(self, positions: Tensor) -> Tensor:
        clean = self.rows[positions]
        damaged = self._damaged(clean) if self.autoencoder.training else clean
        latents = self.autoencoder.encoder(self.autoencoder.inputs(damaged))
        units, logits = self.autoencoder.outputs(latents)
        clean = clean.to(self.device)
        expected = self.autoencoder.cut(clean)[:, self.numbers].float()
        offset = torch.where(expected.isnan(), 0.0, units - expected)
        loss = _NUMBER_WEIGHT * offset.square().sum()
        for position, name in self.levels:
            codes = clean[:, position].long()
            loss = loss + cross_entropy(
                logits[name], codes, ignore_index=MISSING_LEVEL, reduction="sum"
            )
        return loss / len(positions)

    def _damaged(self, clean: Tensor) -> Tensor:
        noise = torch.randn(len(clean), len(self.numbers), generator=self.generator)
        damaged = clean.clone()
        damaged[:, self.numbers] += self.settings.jitter * noise
        masked = torch.rand(clean.shape, generator=self.generator) < self.settings.masked
        return torch.where(masked, self.autoencoder.unknown, damaged)
