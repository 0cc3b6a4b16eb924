"""The sizes of latent spaces, and how they are learned."""

import math
from dataclasses import dataclass

from proce.arguments import check_between, check_count, check_fields
from proce.errors import SchemaError
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
        n_epochs = max(1, _MAX_VARIATIONAL_STEPS * batch_size // n_rows)
        patience = max(6, n_epochs // 8)
        return TrainingSettings(
            n_epochs, batch_size, 3e-3, patience=patience, halve_after=max(2, patience // 3)
        )
