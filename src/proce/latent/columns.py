"""How mixed rows enter a network, and how its outputs are read."""

from functools import cached_property

import numpy as np

from proce.arrays import Array, Floats, Ints
from proce.compiled.cells import CellKind
from proce.compiled.row_network import CellInput, RowNetwork, write_inputs
from proce.schema import MISSING_LEVEL, Categorical, Codec, Continuous
from proce.schema.codec import outlier_bounds


class NetworkColumns:
    """The inputs and the outputs that all networks on rows share."""

    # A categorical feature enters by its row of an embedding table, an ordinal one by its rank
    # on the unit range, a number as it is, but cut half a range outside of the unit range
    # where the training rows had outliers; a flag per feature says whether it is missing. A
    # number is one output; a feature with levels has one output per level.

    def __init__(
        self, codec: Codec, centre: Floats | None = None, spread: Floats | None = None
    ) -> None:
        self.codec = codec
        features = list(enumerate(codec.schema))
        self.centre = np.zeros(len(features)) if centre is None else centre
        self.spread = np.ones(len(features)) if spread is None else spread
        self.plain = [p for p, f in features if not isinstance(f, Categorical)]
        self.coded = [p for p, f in features if isinstance(f, Categorical)]
        self.numbers = np.flatnonzero(codec.is_number).tolist()
        self.levels = np.flatnonzero(~codec.is_number).tolist()
        self.n_levels = {
            f.name: len(f.levels) for _, f in features if not isinstance(f, Continuous)
        }
        counts = [self.n_levels[codec.schema.names[p]] for p in self.coded]
        starts = np.cumsum([0, *counts])
        self.starts, self.n_embedded = starts[:-1], int(starts[-1])
        self.embedding_size = embedding_size(max(counts, default=0))
        self.ends = outlier_bounds(codec)
        self.unknown = np.full(len(features), float(MISSING_LEVEL))
        self.unknown[self.numbers] = np.nan
        n_embedding_columns = len(self.coded) * self.embedding_size
        self.n_inputs = len(self.plain) + n_embedding_columns + len(features)
        self.output_sizes = [len(self.numbers), *self.n_levels.values()]
        self.n_outputs = sum(self.output_sizes)

    def cell_inputs(self, weights: Array, embeddings: Array) -> list[CellInput]:
        """Return how the cells of each feature enter a first layer, embeddings included."""
        # A row of weights belongs to each number and level, so that no columns are needed.
        by_column, n_plain, width = weights.T, len(self.plain), self.embedding_size
        flags = by_column[self.n_inputs - len(self.unknown) :]
        cells: dict[int, CellInput] = {}
        for column, position in enumerate(self.plain):
            cells[position] = self._number_input(position, by_column[column, None], flags[position])
        for column, position in enumerate(self.coded):
            start = self.starts[column]
            n_levels = self.n_levels[self.codec.schema.names[position]]
            own = by_column[n_plain + column * width : n_plain + (column + 1) * width]
            levels = _product(embeddings[start : start + n_levels], own)
            cells[position] = CellInput(CellKind.LEVEL, levels, flags[position])
        return [cells[position] for position in range(len(self.unknown))]

    def _number_input(self, position: int, weights: Array, missing: Array) -> CellInput:
        """Return how the cells of a feature enter as one number each."""
        centre, spread = self.centre[position], self.spread[position]
        low, high = ((self.ends[:, position] - centre) / spread).tolist()
        return CellInput(
            CellKind.NUMBER if self.codec.is_number[position] else CellKind.RANK,
            weights,
            missing,
            (1 / spread).item(),
            (-centre / spread).item(),
            low,
            high,
            self.codec.reach[position].item(),
        )

    def read(self, rows: Array) -> Floats:
        """Return the cells ``(n, 2f)`` of rows ``(n, f)``, as a network takes them."""
        # The first half are the plain cells, then the codes of the others; the second half are
        # flags of missing cells, in the order of the features. A missing cell is 0 but in its flag.
        network, columns = self._reader
        cells = np.zeros((len(rows), 2 * len(self.unknown)))
        write_inputs(np.ascontiguousarray(rows, np.float64), network, columns, cells)
        return cells

    @cached_property
    def _reader(self) -> tuple[RowNetwork, Ints]:
        """How cells enter as numbers, and the column of each row of that network's table."""
        nothing = np.empty((1, 0), np.float32)
        positions = np.arange(len(self.unknown))
        inputs = [
            self._number_input(position, nothing, nothing[0]) for position in positions.tolist()
        ]
        places = np.argsort([*self.plain, *self.coded])
        columns = np.stack([places, len(positions) + positions], axis=1)
        network = RowNetwork.of(inputs, nothing[0], False, [])
        return network, np.concatenate([[-1], columns.ravel()])

    def split_outputs(self, outputs: Array) -> tuple[Array, dict[str, Array]]:
        """Return the numbers ``(…, r)`` and the level logits by feature in outputs ``(…, o)``."""
        units, *logits = np.split(outputs, np.cumsum(self.output_sizes)[:-1], axis=-1)
        return units, dict(zip(self.n_levels, logits, strict=True))

    def exact_outputs(self, rows: Array) -> Floats:
        """Return the outputs ``(n, o)`` that rebuild rows ``(n, f)`` exactly; 0 what is missing."""
        # Numbers are as in the rows, and each level has a probability.
        hot = [
            rows[:, position, None] == np.arange(n_levels)
            for position, n_levels in zip(self.levels, self.n_levels.values(), strict=True)
        ]
        numbers = np.nan_to_num(rows[:, self.numbers], nan=0.0)
        return np.concatenate([numbers, *hot], axis=-1, dtype=np.float64)


def embedding_size(n_levels: int) -> int:
    """Return how many numbers embed a level: half as many as there are levels, from 2 to 8."""
    return min(8, max(2, -(-n_levels // 2)))


def _product(embeddings: Array, weights: Array) -> Array:
    """Return the product of ``(levels, d)`` and ``(d, h)``, added up in one order everywhere."""
    total = np.zeros((len(embeddings), weights.shape[1]))
    for column, row in zip(embeddings.T.astype(np.float64), weights, strict=True):
        total += column[:, None] * row
    return total.astype(np.float32)
