"""The input of a network as a space to descend in: numbers between bounds, levels as weights.

A feature with a column per level becomes one weight per level; the weights of a feature are
not negative and sum to one. A feature that is one number, a level's code included, is relaxed
as that number.
"""

from dataclasses import dataclass

import numpy as np

from proce.arrays import Flags, Floats, Ints, flatten
from proce.classifier import InputEncoding
from proce.schema import Continuous, Schema
from proce.schema.features.levels import rank_span
from proce.search import Genome


@dataclass(frozen=True, eq=False)
class RelaxedEncoding:
    """An input encoding whose columns may hold any number, and which columns mean what."""

    encoding: InputEncoding  # the encoding of the network, with w columns
    number_columns: Ints  # (m,), the columns that hold a feature as one number
    # (b, l), the columns of the features that have one per level. Features with fewer levels are
    # filled up with a column that does not exist, the one after the last.
    weight_columns: Ints
    weighted_features: Ints  # (b,), the positions of those features in the schema
    # (w,), how far each column goes: 1, or the last code of a level that is one number
    span: Floats

    @classmethod
    def of(cls, encoding: InputEncoding, schema: Schema) -> "RelaxedEncoding":
        """Return the relaxed encoding of the rows of a schema."""
        number_columns, blocks, weighted_features = [], [], []
        span = np.ones(encoding.width)
        start = 0
        for position, (feature, n_levels) in enumerate(zip(schema, encoding.n_levels, strict=True)):
            if n_levels:
                blocks.append(np.arange(start, start + n_levels))
                weighted_features.append(position)
            else:
                number_columns.append(start)
                if not isinstance(feature, Continuous):
                    span[start] = rank_span(len(feature.levels))
            start += n_levels or 1
        longest = max((len(block) for block in blocks), default=0)
        weight_columns = np.full((len(blocks), longest), encoding.width)
        for block, line in zip(blocks, weight_columns, strict=True):
            line[: len(block)] = block
        return cls(
            encoding,
            np.array(number_columns, np.int64),
            weight_columns,
            np.array(weighted_features, np.int64),
            span,
        )

    def weights_by_feature(self, points: Floats, filler: float) -> Floats:
        """Return the level weights of points ``(i, w)`` by feature, ``(i, b, l)``.

        ``filler`` stands in the places of features with fewer levels than the others.
        """
        filled = np.concatenate([points, np.full((len(points), 1), filler)], axis=1)
        return filled[:, self.weight_columns]

    def with_weights(self, points: Floats, weights: Floats) -> Floats:
        """Return points ``(i, w)`` whose level weights are replaced by others ``(i, b, l)``."""
        filled = np.concatenate([points, points[:, :1]], axis=1)
        filled[:, self.weight_columns.ravel()] = flatten(weights, 1, 2)
        return filled[:, :-1]

    def feasible_set(self, genome: Genome) -> "FeasibleSet":
        """Return where the points of some rows may go."""
        source = self.encoding.source
        movable = genome.movable[:, source]
        n_flags = int(self.encoding.may_miss.sum())  # the last columns say what is missing
        movable[:, self.encoding.width - n_flags :] = False
        lower, upper = genome.lower[:, source], genome.upper[:, source]
        codes = np.arange(self.weight_columns.shape[1])
        bounds = (genome.lower, genome.upper)
        lowest, highest = (bound[:, self.weighted_features, None] for bound in bounds)
        permitted = ((codes >= lowest) & (codes <= highest)).astype(np.float64)
        return FeasibleSet(
            self,
            genome,
            self.encoding(genome.anchor, np.float64),
            self.with_weights(lower, np.zeros_like(permitted)),
            self.with_weights(upper, permitted),
            movable,
        )


@dataclass(frozen=True, eq=False)
class FeasibleSet:
    """The points ``(i, w)`` of a relaxed encoding that some rows may become."""

    relaxed: RelaxedEncoding  # the encoding, which says what the columns mean
    genome: Genome  # what the rows themselves may become
    start: Floats  # (i, w), the rows as they are
    # lower, upper: (i, w), the bounds; the weight of a level that is not permitted is 0
    lower: Floats
    upper: Floats
    movable: Flags  # (i, w), whether a column may move at all

    def take(self, rows: Ints) -> "FeasibleSet":
        """Return the feasible set of some of the rows, given by position."""
        start, lower, upper = self.start[rows], self.lower[rows], self.upper[rows]
        genome = self.genome.take(rows)
        return FeasibleSet(self.relaxed, genome, start, lower, upper, self.movable[rows])

    def project(self, points: Floats) -> Floats:
        """Return the nearest feasible points."""
        inside = np.minimum(np.maximum(points, self.lower), self.upper)
        weights = self.relaxed.weights_by_feature(points, -np.inf)
        forbidden = self.relaxed.weights_by_feature(self.upper, 0.0) == 0
        weights = project_onto_simplex(np.where(forbidden, -np.inf, weights))
        return np.where(self.movable, self.relaxed.with_weights(inside, weights), self.start)

    def round_to_rows(self, points: Floats) -> Floats:
        """Return points as rows ``(i, f)``: the heaviest level, and permitted values."""
        rows = self.genome.anchor.copy()
        relaxed = self.relaxed
        rows[:, relaxed.encoding.source[relaxed.number_columns]] = points[:, relaxed.number_columns]
        if len(relaxed.weighted_features):
            heaviest = relaxed.weights_by_feature(points, -np.inf).argmax(-1)
            rows[:, relaxed.weighted_features] = heaviest
        return self.genome.repair(rows[:, None]).squeeze(1)


def project_onto_simplex(values: Floats) -> Floats:
    """Return the nearest weights ``(…, l)`` that are not negative and sum to one.

    Entries of minus infinity get no weight (Duchi et al. 2008).
    """
    if not values.shape[-1]:
        return values
    ranked = np.sort(values, axis=-1)[..., ::-1]
    finite = np.isfinite(ranked)
    total = np.where(finite, ranked, 0.0).cumsum(-1) - 1
    count = np.arange(1, values.shape[-1] + 1)
    support = np.maximum((finite & (ranked * count > total)).sum(-1, keepdims=True), 1)
    shift = np.take_along_axis(total, support - 1, -1) / support
    return np.maximum(values - shift, 0.0)
