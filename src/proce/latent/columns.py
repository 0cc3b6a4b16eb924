"""How mixed rows enter a network, and how its outputs are read."""

import numpy as np

from proce.arrays import Array
from proce.compiled.cells import CellKind
from proce.compiled.row_network import CellInput
from proce.schema import MISSING_LEVEL, Categorical, Codec, Continuous
from proce.schema.bulk import bulk_ends


class NetworkColumns:
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
    plain, coded, numbers
        The positions of the features that enter as they stand in the rows (numbers and ranks), of
        those that are embedded, and of the numbers alone.
    n_levels
        How many levels each ordinal or categorical feature has, by its name.
    starts
        ``(coded,)``, where each categorical feature's levels begin in the table of embeddings.
    n_embedded, embedding_size
        How many levels the table has, and how many numbers embed each of them.
    reach
        ``(plain,)``, what the plain cells are divided by.
    ends
        ``(2, f)``, where values are cut.
    n_inputs, n_outputs
        How many numbers enter the network for a row, and how many leave it.
    unknown
        ``(f,)``, a row of which every cell is missing.
    """

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        features = list(enumerate(codec.schema))
        self.plain = [p for p, f in features if not isinstance(f, Categorical)]
        self.coded = [p for p, f in features if isinstance(f, Categorical)]
        self.numbers = [p for p, f in features if isinstance(f, Continuous)]
        self.n_levels = {
            f.name: len(f.levels) for _, f in features if not isinstance(f, Continuous)
        }
        counts = [self.n_levels[codec.schema.names[p]] for p in self.coded]
        starts = np.cumsum([0, *counts])
        self.starts, self.n_embedded = starts[:-1], int(starts[-1])
        self.embedding_size = embedding_size(max(counts, default=0))
        self.reach = codec.reach[self.plain]
        self.ends = bulk_ends(codec)
        self.unknown = np.full(len(features), float(MISSING_LEVEL))
        self.unknown[self.numbers] = np.nan
        n_embedding_columns = len(self.coded) * self.embedding_size
        self.n_inputs = len(self.plain) + n_embedding_columns + len(features)
        self.n_outputs = len(self.numbers) + sum(self.n_levels.values())

    def cell_inputs(self, weights: Array, embeddings: Array) -> list[CellInput]:
        """Return how the cells of each feature enter a first layer, embeddings included.

        A row of weights belongs to each number and level, so that no columns are needed.

        Parameters
        ----------
        weights
            ``(h, w)``, of the first layer.
        embeddings
            ``(levels, d)``, the table of all categorical features.
        """
        by_column, n_plain, width = weights.T, len(self.plain), self.embedding_size
        flags = by_column[self.n_inputs - len(self.unknown) :]
        low, high = self.ends.tolist()
        cells: dict[int, CellInput] = {}
        for column, position in enumerate(self.plain):
            cells[position] = CellInput(
                CellKind.NUMBER if position in self.numbers else CellKind.RANK,
                by_column[column, None],
                flags[position],
                low=low[position],
                high=high[position],
                reach=self.reach[column].item(),
            )
        for column, position in enumerate(self.coded):
            start = self.starts[column]
            n_levels = self.n_levels[self.codec.schema.names[position]]
            own = by_column[n_plain + column * width : n_plain + (column + 1) * width]
            levels = _product(embeddings[start : start + n_levels], own)
            cells[position] = CellInput(CellKind.LEVEL, levels, flags[position])
        return [cells[position] for position in range(len(self.unknown))]

    def split_outputs(self, outputs: Array) -> tuple[Array, dict[str, Array]]:
        """Return the numbers ``(…, r)`` and the level logits by feature in outputs ``(…, o)``."""
        sizes = [len(self.numbers), *self.n_levels.values()]
        units, *logits = np.split(outputs, np.cumsum(sizes)[:-1], axis=-1)
        return units, dict(zip(self.n_levels, logits, strict=True))


def embedding_size(n_levels: int) -> int:
    """Return how many numbers embed a level: half as many as there are levels, from 2 to 8."""
    return min(8, max(2, -(-n_levels // 2)))


def _product(embeddings: Array, weights: Array) -> Array:
    """Return the product of ``(levels, d)`` and ``(d, h)``, added up in one order everywhere."""
    total = np.zeros((len(embeddings), weights.shape[1]))
    for column, row in zip(embeddings.T.astype(np.float64), weights, strict=True):
        total += column[:, None] * row
    return total.astype(np.float32)
