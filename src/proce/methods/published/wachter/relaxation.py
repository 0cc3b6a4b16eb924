"""The input of a network as a space to descend in: numbers between bounds, levels as weights.

A feature with a column per level becomes one weight per level; the weights of a feature are
not negative and sum to one. A feature that is one number, a level's code included, is relaxed
as that number.
"""

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from proce.classifier import InputEncoding
from proce.schema import Continuous, Schema
from proce.search import Genome


@dataclass(frozen=True, eq=False)
class Relaxation:
    """Where the features of an encoding stand among its columns.

    Attributes
    ----------
    encoding
        The network's own.
    numbers
        ``(m,)``, the columns that hold a feature as one number.
    weights
        ``(b, l)``, the columns of the features that have one per level; short ones are filled
        up with a column that does not exist, the one after the last.
    weighted
        ``(b,)``, the positions of those features.
    span
        ``(w,)``, how far each column goes: 1, or the last code of a level that is one number.
    """

    encoding: InputEncoding
    numbers: Tensor
    weights: Tensor
    weighted: Tensor
    span: Tensor

    @classmethod
    def of(cls, encoding: InputEncoding, schema: Schema) -> "Relaxation":
        """Return the relaxation of the encoding of a schema's rows."""
        numbers, blocks, weighted = [], [], []
        span = torch.ones(encoding.width, dtype=torch.float64)
        start = 0
        for position, (feature, codes) in enumerate(zip(schema, encoding.codes, strict=True)):
            if codes is None:
                numbers.append(start)
                if not isinstance(feature, Continuous):
                    span[start] = max(1, len(feature.levels) - 1)
                start += 1
            else:
                blocks.append(torch.arange(start, start + len(codes)))
                weighted.append(position)
                start += len(codes)
        longest = max((len(block) for block in blocks), default=0)
        weights = torch.full((len(blocks), longest), encoding.width)
        for block, line in zip(blocks, weights, strict=True):
            line[: len(block)] = block
        as_positions = partial(torch.tensor, dtype=torch.long)  # also where there are none
        return cls(encoding, as_positions(numbers), weights, as_positions(weighted), span)

    def by_feature(self, values: Tensor, filler: float) -> Tensor:
        """Return the columns of weights of ``(i, w)`` by feature, ``(i, b, l)``."""
        filled = torch.cat([values, values.new_full((len(values), 1), filler)], dim=1)
        return filled[:, self.weights]

    def by_column(self, blocks: Tensor, others: Tensor) -> Tensor:
        """Undo :meth:`by_feature`; columns without weights are those of ``others`` ``(i, w)``."""
        filled = torch.cat([others, others[:, :1]], dim=1)
        filled[:, self.weights.flatten()] = blocks.flatten(1)
        return filled[:, :-1]

    def region(self, genome: Genome) -> "Region":
        """Return where the points of some rows may go."""
        source = self.encoding.source
        movable = genome.movable[:, source]
        movable[:, self.encoding.width - int(self.encoding.may_miss.sum()) :] = False  # the flags
        lower, upper = genome.lower[:, source], genome.upper[:, source]
        codes = torch.arange(self.weights.shape[1]).expand(len(lower), *self.weights.shape)
        least, most = (each[:, self.weighted, None] for each in (genome.lower, genome.upper))
        permitted = ((codes >= least) & (codes <= most)).to(lower)
        return Region(
            self,
            genome,
            self.encoding(genome.anchor, torch.float64),
            self.by_column(torch.zeros_like(permitted), lower),
            self.by_column(permitted, upper),
            movable,
        )


@dataclass(frozen=True, eq=False)
class Region:
    """What the points ``(i, w)`` of some rows may become.

    Attributes
    ----------
    space
        What the columns mean.
    genome
        What the rows themselves may become.
    start
        ``(i, w)``, the rows as they are.
    lower, upper
        ``(i, w)``, the bounds; the weight of a level that is not permitted is 0.
    movable
        ``(i, w)``.
    """

    space: Relaxation
    genome: Genome
    start: Tensor
    lower: Tensor
    upper: Tensor
    movable: Tensor

    def take(self, rows: Tensor) -> "Region":
        """Return the region of some of the rows, given by position."""
        ends = (each[rows] for each in (self.start, self.lower, self.upper, self.movable))
        return Region(self.space, self.genome.take(rows), *ends)

    def project(self, points: Tensor) -> Tensor:
        """Return the nearest points inside."""
        inside = points.maximum(self.lower).minimum(self.upper)
        weights = self.space.by_feature(points, -torch.inf)
        weights = weights.masked_fill(self.space.by_feature(self.upper, 0.0) == 0, -torch.inf)
        return torch.where(
            self.movable, self.space.by_column(on_simplex(weights), inside), self.start
        )

    def rounded(self, points: Tensor) -> Tensor:
        """Return points as rows ``(i, f)``: the heaviest level, and permitted values."""
        rows = self.genome.anchor.clone()
        space = self.space
        rows[:, space.encoding.source[space.numbers]] = points[:, space.numbers]
        if len(space.weighted):
            heaviest = space.by_feature(points, -torch.inf).argmax(-1)
            rows[:, space.weighted] = heaviest.to(rows)
        return self.genome.repair(rows[:, None]).squeeze(1)


def on_simplex(values: Tensor) -> Tensor:
    """Return the nearest weights ``(…, l)`` that are not negative and sum to one.

    Entries of minus infinity get no weight (Duchi et al. 2008).
    """
    if not values.shape[-1]:
        return values
    ranked = values.sort(dim=-1, descending=True).values
    finite = ranked.isfinite()
    total = ranked.masked_fill(~finite, 0.0).cumsum(-1) - 1
    count = torch.arange(1, values.shape[-1] + 1, device=values.device)
    support = (finite & (ranked * count > total)).sum(-1, keepdim=True).clamp(min=1)
    shift = total.gather(-1, support - 1) / support
    return (values - shift).clamp(min=0)
