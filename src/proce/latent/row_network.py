"""How mixed rows enter a network, and how its outputs are read."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from proce.compiled.row_network import CellInput, CellKind
from proce.schema import MISSING_LEVEL, Categorical, Codec, Continuous
from proce.schema.bulk import bulk_ends


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


class RowNetwork(nn.Module):
    """The inputs and the outputs that all networks on rows share.

    A categorical feature enters by its row of an embedding table, an ordinal one by its rank
    on the unit range, a number as it is, but cut half a range outside of the unit range
    where the training rows had outliers; a flag per feature says whether it is missing. A
    number is one output; a feature with levels has one output per level.

    Parameters
    ----------
    codec
        The codec of the rows.

    Attributes
    ----------
    n_inputs, n_outputs
        How many numbers enter the network for a row, and how many leave it.
    unknown
        ``(f,)``, a row of which every cell is missing.
    """

    _starts: Tensor  # (coded,) where each categorical feature's levels begin
    _reach: Tensor  # (plain,)
    _ends: Tensor  # (2, f)

    def __init__(self, codec: Codec) -> None:
        super().__init__()
        self.codec = codec
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
        self.register_buffer("_ends", bulk_ends(codec), persistent=False)
        self.embeddings = nn.Embedding(int(starts[-1]), width)  # all features' levels, stacked
        self.unknown = torch.full((len(features),), float(MISSING_LEVEL), dtype=torch.float64)
        self.unknown[self._numbers] = torch.nan
        self.n_inputs = len(self._plain) + len(self._coded) * width + len(features)
        self.n_outputs = len(self._numbers) + sum(self._n_levels.values())

    def inputs(self, rows: Tensor) -> Tensor:
        """Return the network's inputs for rows ``(…, f)``; autograd runs through numbers."""
        return self.join(self.cells(rows))

    def cells(self, rows: Tensor) -> Cells:
        """Return rows ``(…, f)`` taken apart, on the network's device."""
        rows = rows.to(self._reach.device)
        missing = self.codec.missing(rows)
        codes = rows[..., self._coded].where(~missing[..., self._coded], 0).long() + self._starts
        return Cells(rows[..., self._plain], codes, missing)

    def join(self, cells: Cells) -> Tensor:
        """Return the network's inputs for rows that were taken apart."""
        low, high = self._ends[:, self._plain].to(cells.plain)
        plain = cells.plain.maximum(low).minimum(high).to(self._reach.dtype) / self._reach
        plain = plain.masked_fill(cells.missing[..., self._plain], 0.0)
        present = ~cells.missing[..., self._coded]
        embedded = self.embeddings(cells.codes) * present[..., None]  # (…, coded, d)
        return torch.cat([plain, embedded.flatten(-2), cells.missing.to(plain)], dim=-1)

    def cut(self, rows: Tensor) -> Tensor:
        """Return rows ``(…, f)`` without values that lie absurdly far outside of the unit range."""
        low, high = self._ends.to(rows)
        return rows.maximum(low).minimum(high)

    def cell_inputs(self, first: nn.Linear) -> list[CellInput]:
        """Return how the cells of each feature enter the first layer, embeddings included.

        What :meth:`inputs` puts into columns is here a row of weights for each number and level.
        """
        weights = first.weight.detach().T  # (w, h)
        n_plain, width = len(self._plain), self.embeddings.embedding_dim
        flags = weights[self.n_inputs - len(self.unknown) :]
        low, high = self._ends.tolist()
        cells: dict[int, CellInput] = {}
        for column, position in enumerate(self._plain):
            kind = CellKind.NUMBER if position in self._numbers else CellKind.RANK
            cells[position] = CellInput(
                kind,
                weights[column, None],
                flags[position],
                low=low[position],
                high=high[position],
                reach=self._reach[column].item(),
            )
        for column, position in enumerate(self._coded):
            start = int(self._starts[column])
            n_levels = self._n_levels[self.codec.schema.names[position]]
            embedded = self.embeddings.weight.detach()[start : start + n_levels].double()
            own = weights[n_plain + column * width : n_plain + (column + 1) * width]
            levels = (embedded @ own.double()).float()
            cells[position] = CellInput(CellKind.LEVEL, levels, flags[position])
        return [cells[position] for position in range(len(self.unknown))]

    def split_outputs(self, outputs: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the numbers ``(…, r)`` and the level logits by feature in outputs ``(…, o)``."""
        sizes = [len(self._numbers), *self._n_levels.values()]
        units, *logits = torch.split(outputs, sizes, dim=-1)
        return units, dict(zip(self._n_levels, logits, strict=True))


def embedding_size(n_levels: int) -> int:
    """Return how many numbers embed a level: half as many as there are levels, from 2 to 8."""
    return min(8, max(2, -(-n_levels // 2)))
