"""A latent space for mixed rows: the encoder Q_phi of the paper, its decoder and embeddings."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from proce.errors import SchemaError
from proce.schema import Categorical, Codec, Continuous


@dataclass(frozen=True)
class Reconstruction:
    """What the decoder makes of latents: numbers on the unit range, levels as probabilities.

    Attributes
    ----------
    units
        ``(…, r)``, the continuous features in the schema's order.
    probabilities
        ``(…, levels)`` by the name of each ordinal or categorical feature.
    """

    units: Tensor
    probabilities: dict[str, Tensor]


class AutoEncoder(nn.Module):
    """Rows to latents and back.

    A categorical feature enters by its row of an embedding table, an ordinal one by its rank
    on the unit range, a number as it is; a flag per feature marks what is missing. Made by
    :func:`proce.latent.fit_autoencoder`.

    Parameters
    ----------
    codec
        Whose rows it takes.
    latent_size
        E of the paper.
    hidden_size
        Width of the hidden layer on either side.
    """

    _starts: Tensor  # (coded,) where each categorical feature's levels begin
    _reach: Tensor  # (plain,)

    def __init__(self, codec: Codec, latent_size: int, hidden_size: int) -> None:
        super().__init__()
        self.codec = codec
        self.latent_size = latent_size
        features = list(enumerate(codec.schema))
        self._plain = [p for p, f in features if not isinstance(f, Categorical)]
        self._coded = [p for p, f in features if isinstance(f, Categorical)]
        self._numbers = [p for p, f in features if isinstance(f, Continuous)]
        self._n_levels = {
            f.name: len(f.levels) for _, f in features if not isinstance(f, Continuous)
        }
        counts = [self._n_levels[codec.schema.names[p]] for p in self._coded]
        width = embedding_size(max(counts, default=0))
        starts = torch.tensor([0, *counts], dtype=torch.long).cumsum(0)
        self.register_buffer("_starts", starts[:-1])
        self.register_buffer("_reach", codec.reach[self._plain].float())
        self.embeddings = nn.Embedding(int(starts[-1]), width)  # all features' levels, stacked
        n_inputs = len(self._plain) + len(self._coded) * width + len(features)
        n_outputs = len(self._numbers) + sum(self._n_levels.values())
        self.encoder = nn.Sequential(
            nn.Linear(n_inputs, hidden_size), nn.ReLU(), nn.Linear(hidden_size, latent_size)
        )
        self.decoder = nn.Sequential(
            nn.Linear(latent_size, hidden_size), nn.ReLU(), nn.Linear(hidden_size, n_outputs)
        )

    def encode(self, rows: Tensor) -> Tensor:
        """Return the latents ``(…, e)`` of rows ``(…, f)``, as float32, on the rows' device."""
        with torch.no_grad():
            latents: Tensor = self.encoder(self.inputs(rows))
            return latents.to(rows.device)

    def reconstruct(self, rows: Tensor) -> Reconstruction:
        """Return what the decoder makes of the rows' latents."""
        with torch.no_grad():
            units, logits = self.outputs(self.encoder(self.inputs(rows)))
            chances = {name: each.softmax(-1).to(rows.device) for name, each in logits.items()}
            return Reconstruction(units.to(rows.device), chances)

    def embed(self, name: str, codes: Tensor) -> Tensor:
        """Return the embeddings ``(…, d)`` of a categorical feature's level codes ``(…)``."""
        position = self.codec.schema.position(name)
        if position not in self._coded:
            kind = self.codec.schema[name].kind
            raise SchemaError(f"feature {name!r} is {kind}; only categorical ones are embedded.")
        start = self._starts[self._coded.index(position)]
        with torch.no_grad():
            rows: Tensor = self.embeddings(codes.long().to(start.device) + start)
            return rows.to(codes.device)

    def inputs(self, rows: Tensor) -> Tensor:
        """Return what the encoder is fed for rows ``(…, f)``; autograd runs through numbers."""
        rows = rows.to(self._reach.device)
        missing = self.codec.missing(rows)
        plain = rows[..., self._plain].float() / self._reach
        plain = plain.masked_fill(missing[..., self._plain], 0.0)
        present = ~missing[..., self._coded]
        codes = rows[..., self._coded].where(present, 0).long() + self._starts
        embedded = self.embeddings(codes) * present[..., None]  # (…, coded, d)
        return torch.cat([plain, embedded.flatten(-2), missing.float()], dim=-1)

    def outputs(self, latents: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the decoder's numbers and level logits for latents; autograd runs through."""
        raw = self.decoder(latents)
        units, *logits = raw.split([len(self._numbers), *self._n_levels.values()], dim=-1)
        return units, dict(zip(self._n_levels, logits, strict=True))


def embedding_size(n_levels: int) -> int:
    """Return how many numbers stand for a level: half as many as levels, from 2 to 8."""
    return min(8, max(2, -(-n_levels // 2)))
