"""Networks on mixed rows while they are learned: what needs PyTorch."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from proce.arrays import Array
from proce.latent.columns import NetworkColumns
from proce.schema import Codec


class Cells(NamedTuple):
    """Rows taken apart.

    Attributes
    ----------
    plain
        ``(…, p)``, numbers and ranks as they stand in the rows.
    codes
        ``(…, coded)``, the rows of the embedding table for all other levels.
    missing
        ``(…, f)``, flags of the cells whose value is not known, whatever stands in the others.
    """

    plain: Tensor
    codes: Tensor
    missing: Tensor


class RowModule(nn.Module):
    """A module with the inputs and the outputs of :class:`~proce.latent.columns.NetworkColumns`.

    Parameters
    ----------
    codec
        The codec of the rows.

    Attributes
    ----------
    columns
        How rows enter the network, and how its outputs are read.
    unknown
        ``(f,)``, a row of which every cell is missing.
    """

    unknown: Tensor
    _is_number: Tensor  # (f,)
    _starts: Tensor  # (coded,)
    _reach: Tensor  # (plain,)
    _ends: Tensor  # (2, f)

    def __init__(self, codec: Codec) -> None:
        super().__init__()
        self.columns = columns = NetworkColumns(codec)
        for name, part in (
            ("unknown", columns.unknown),
            ("_is_number", codec.is_number),
            ("_starts", columns.starts),
            ("_reach", columns.reach),
            ("_ends", columns.ends),
        ):
            self.register_buffer(name, torch.tensor(part), persistent=False)
        # all features' levels, stacked
        self.embeddings = nn.Embedding(columns.n_embedded, columns.embedding_size)

    def inputs(self, rows: Tensor) -> Tensor:
        """Return the network's inputs for rows ``(…, f)``; autograd runs through numbers."""
        return self.join(self.cells(rows))

    def cells(self, rows: Tensor) -> Cells:
        """Return rows ``(…, f)`` taken apart, on the network's device."""
        rows, coded = rows.to(self._reach.device), self.columns.coded
        missing = torch.where(self._is_number, rows.isnan(), rows < 0)
        codes = rows[..., coded].where(~missing[..., coded], 0).long() + self._starts
        return Cells(rows[..., self.columns.plain], codes, missing)

    def join(self, cells: Cells) -> Tensor:
        """Return the network's inputs, in its precision, for rows that were taken apart."""
        plain_positions, coded = self.columns.plain, self.columns.coded
        low, high = self._ends[:, plain_positions].to(cells.plain)
        plain = cells.plain.maximum(low).minimum(high).to(self.embeddings.weight)
        plain = plain / self._reach.to(plain)
        plain = plain.masked_fill(cells.missing[..., plain_positions], 0.0)
        present = ~cells.missing[..., coded]
        embedded = self.embeddings(cells.codes) * present[..., None]  # (…, coded, d)
        return torch.cat([plain, embedded.flatten(-2), cells.missing.to(plain)], dim=-1)

    def cut(self, rows: Tensor) -> Tensor:
        """Return rows ``(…, f)`` without values that lie absurdly far outside of the unit range."""
        low, high = self._ends.to(rows)
        return rows.maximum(low).minimum(high)

    def split_outputs(self, outputs: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the numbers ``(…, r)`` and the level logits by feature in outputs ``(…, o)``."""
        n_levels = self.columns.n_levels
        sizes = [len(self.columns.numbers), *n_levels.values()]
        units, *logits = torch.split(outputs, sizes, dim=-1)
        return units, dict(zip(n_levels, logits, strict=True))

    def learned_arrays(self) -> dict[str, Array]:
        """Return what was learned, as arrays by name."""
        return {name: part.detach().cpu().numpy().copy() for name, part in self.named_parameters()}
