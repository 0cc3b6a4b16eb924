"""A variational auto-encoder of mixed rows, conditioned on what never moves.

After Pawelczyk, Broelemann and Kasneci 2020 (arXiv:1910.09398) and the likelihoods by type of
Nazabal et al. 2020: numbers are Gaussian with a scale of their own, levels categorical, ordinal
ones too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from proce.errors import SchemaError
from proce.latent.row_network import RowNetwork
from proce.schema import MISSING_LEVEL, Codec
from proce.training import Progress, TrainingRecord, TrainingSettings, random_stream, train

_LEAST_SCALE = 0.01  # of the unit range: a spike in the data would have any density


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
        Of the divergence from the prior, beside the likelihood of the row; 1 is the bound on
        the evidence.
    warm_up
        Epochs over which that weight grows from zero, so that latents are used before they are
        made alike.
    training
        How long and how fast.
    """

    latent_size: int | None = None
    hidden_size: int = 128
    kl_weight: float = 0.3
    warm_up: int = 5
    training: TrainingSettings = field(
        default_factory=lambda: TrainingSettings(batch_size=512, learning_rate=3e-3)
    )

    def __post_init__(self) -> None:
        for name, least in (("latent_size", 1), ("hidden_size", 1), ("warm_up", 0)):
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool) and value >= least
            if not whole and not (name == "latent_size" and value is None):
                raise SchemaError(f"{name} is {value!r}; expected a whole number from {least} on.")
        if not 0 < self.kl_weight < float("inf"):
            raise SchemaError(f"kl_weight is {self.kl_weight!r}; expected a number above 0.")


class VariationalAutoEncoder(RowNetwork):
    """Rows to distributions of latents, and latents back to rows; see :func:`fit_variational`.

    Parameters
    ----------
    codec
        Whose rows it takes.
    given
        The positions of the features that it is conditioned on; may be none.
    latent_size, hidden_size
        As in :class:`VariationalSettings`.
    """

    def __init__(
        self, codec: Codec, given: Sequence[int], latent_size: int, hidden_size: int
    ) -> None:
        super().__init__(codec)
        self.latent_size = latent_size
        self.is_given = torch.zeros(len(codec.schema), dtype=torch.bool)
        self.is_given[list(given)] = True
        self.encoder = _layers(self.n_inputs, hidden_size, 2 * latent_size)
        self.decoder = _layers(latent_size + self.n_inputs, hidden_size, self.n_outputs)
        self.log_scale = nn.Parameter(torch.full((len(self._numbers),), -2.0))

    @property
    def scale(self) -> Tensor:
        """The standard deviation of each number around what is decoded, ``(r,)``."""
        return self.log_scale.exp().clamp(min=_LEAST_SCALE)

    def posterior(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean and the log variance ``(…, e)`` of the latents of rows ``(…, f)``."""
        mean, log_variance = self.encoder(self.inputs(rows)).chunk(2, dim=-1)
        return mean, log_variance.clamp(-12, 6)

    def outputs(self, latents: Tensor, rows: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return numbers and level logits for latents ``(…, e)`` and what is given of rows."""
        condition = self.inputs(torch.where(self.is_given, rows, self.unknown))
        condition = condition.expand(*latents.shape[:-1], -1)
        return self.read(self.decoder(torch.cat([latents, condition], dim=-1)))

    def decode(self, latents: Tensor, rows: Tensor) -> Tensor:
        """Return the likeliest rows ``(…, f)`` of latents; what is given is that of the rows."""
        with torch.no_grad():
            units, logits = self.outputs(latents, rows)
            decoded = rows.expand(*latents.shape[:-1], -1).clone()
            decoded[..., self._numbers] = units.to(decoded)
            for name, each in logits.items():
                decoded[..., self.codec.schema.position(name)] = each.argmax(-1).to(decoded)
            return torch.where(self.is_given, rows, decoded)


def fit_variational(
    codec: Codec,
    rows: Tensor,
    given: Sequence[int],
    settings: VariationalSettings | None = None,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[VariationalAutoEncoder, TrainingRecord]:
    """Learn the rows' distribution given some features; the same seed gives the same weights.

    Parameters
    ----------
    codec
        Whose rows they are.
    rows
        ``(i, f)``, at least two; cells may be missing, and are then neither fed nor asked for.
    given
        The positions of the features that it is conditioned on.
    settings
        Sizes and schedule.
    seed
        Of the weights, the split, the shuffling and the noise.
    progress
        Called after each epoch; stops by returning False.

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
        goal = _Evidence(network, rows, settings, generator)
        record = train(network, goal, len(rows), settings.training, generator, progress)
    return network.double().requires_grad_(False), record


class _Evidence:
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
        self.grows_over = settings.warm_up * len(rows)
        self.n_seen = 0

    def __call__(self, positions: Tensor) -> Tensor:
        rows = self.rows[positions]
        mean, log_variance = self.network.posterior(rows)
        noise = torch.randn(mean.shape, generator=self.generator)
        latents = mean + noise * (log_variance / 2).exp()
        divergence = (mean.square() + log_variance.exp() - 1 - log_variance).sum() / 2
        return (surprise(self.network, latents, rows) + self._weight(len(rows)) * divergence) / len(
            rows
        )

    def _weight(self, n_rows: int) -> float:
        if not self.network.training:
            return self.kl_weight
        self.n_seen += n_rows
        return self.kl_weight * min(1.0, self.n_seen / max(1, self.grows_over))


def surprise(network: VariationalAutoEncoder, latents: Tensor, rows: Tensor) -> Tensor:
    """Return the negative log likelihood of the rows' moving cells under latents, summed."""
    units, logits = network.outputs(latents, rows)
    schema, moves = network.codec.schema, ~network.is_given
    numbers = [p for p, f in enumerate(schema) if f.name not in logits]
    wanted = rows[:, numbers].to(units)
    off = (units - wanted) / network.scale
    density = off.square() / 2 + network.scale.log() + 0.9189385332046727  # log(2π) / 2
    total = torch.where(wanted.isnan() | ~moves[numbers], 0.0, density).sum()
    for name, each in logits.items():
        position = schema.position(name)
        if moves[position]:
            codes = rows[:, position].long()
            total = total + cross_entropy(each, codes, ignore_index=MISSING_LEVEL, reduction="sum")
    return total


def _layers(n_inputs: int, hidden_size: int, n_outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(n_inputs, hidden_size),
        nn.ReLU(),
        nn.Linear(hidden_size, hidden_size),
        nn.ReLU(),
        nn.Linear(hidden_size, n_outputs),
    )
