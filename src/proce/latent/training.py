"""Learn an auto-encoder from training rows: what needs PyTorch."""

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from proce.arrays import Array
from proce.errors import SchemaError
from proce.latent.autoencoder import AutoEncoder
from proce.latent.row_module import Cells, RowModule
from proce.latent.settings import AutoEncoderSettings
from proce.schema import MISSING_LEVEL, Categorical, Codec, Continuous
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
        super().__init__(codec)
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
        goal = _Denoising(module, torch.tensor(rows), settings, generator)
        record = train(module, goal, len(rows), schedule, generator, progress)
    return AutoEncoder.of_weights(codec, module.learned_arrays()), record


class _Denoising:
    """The mean loss of rows that are rebuilt from a damaged copy of themselves."""

    def __init__(
        self,
        module: AutoEncoderModule,
        rows: Tensor,
        settings: AutoEncoderSettings,
        generator: torch.Generator,
    ) -> None:
        self.module, self.settings, self.generator = module, settings, generator
        self.cells = module.cells(rows)
        self.device = self.cells.plain.device
        rows, features = rows.to(self.device), list(enumerate(module.columns.codec.schema))
        numbers = [p for p, f in features if isinstance(f, Continuous)]
        levels = [p for p, f in features if not isinstance(f, Continuous)]
        plain = [p for p, f in features if not isinstance(f, Categorical)]
        self.number_columns = [plain.index(position) for position in numbers]
        self.expected = module.cut(rows)[:, numbers].float()
        self.codes = rows[:, levels].long()

    def __call__(self, positions: Tensor) -> Tensor:
        positions = positions.to(self.device)
        cells = Cells(*(part[positions] for part in self.cells))
        if self.module.training:
            cells = self._damaged(cells)
        latents = self.module.encoder(self.module.join(cells))
        units, logits = self.module.outputs(latents)
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
