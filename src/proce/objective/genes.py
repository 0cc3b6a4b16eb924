"""From rows to genes and back: what may change, where a search starts, what its genes ask for.

A gene per feature holds its entry of the row. In ``hard`` mode one more gene with two levels
follows for every endogenous feature that can be acted on: is it acted on? An action that leads to
an avoided level is none. Where searches start is line 2 of Algorithm 1.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from proce.arrays import Array, Flags, Floats, Ints, even_codes
from proce.causal import StructuralCausalModel
from proce.compiled.elementary import powers, quantiles
from proce.compiled.kernel import kernel
from proce.objective.distance import Mode
from proce.objective.instances import InstanceBatch
from proce.objective.limits import Limits
from proce.objective.terms import is_avoided
from proce.schema import Codec
from proce.search import GeneKind, Genome, Purpose, RowStreams
from proce.search.genome import permitted_values

Start = Literal["mixed", "gaussian", "anywhere"]
_START_DEVIATION = 0.15  # standard deviation of the Gaussian start, on the unit range
_LEVEL_REDRAW_CHANCE = 0.3  # that a level is drawn anew in the Gaussian start
_NOISY_LEVEL_CHANCE = 0.5  # that a noisy candidate of the mixed start draws its level from all


@dataclass(frozen=True)
class GeneMap:
    """Which gene belongs to which feature: first the features' entries, then the switches."""

    n_features: int  # how many genes are entries of features
    switched: tuple[int, ...] = ()  # for each switch, the position of its feature

    @property
    def switch_of(self) -> dict[int, int]:
        """The gene of each switch, by the position of its feature."""
        return {position: self.n_features + index for index, position in enumerate(self.switched)}

    @property
    def switches(self) -> Ints:
        """The gene of the switch of each feature ``(f,)``, for a kernel; 0 without one."""
        switches = np.zeros(self.n_features, np.int64)
        for position, gene in self.switch_of.items():
            switches[position] = gene
        return switches


def gene_map_of(codec: Codec, scm: StructuralCausalModel | None, mode: Mode) -> GeneMap:
    """Return which gene belongs to which feature; ``hard`` has a switch per actionable effect.

    The map depends on no row: a row with a missing cell has the same genes alone and in a batch.
    """
    if mode != "hard" or scm is None:
        return GeneMap(len(codec.schema))
    effects = [name for name in scm.graph.endogenous if codec.schema[name].can_be_acted_on]
    return GeneMap(len(codec.schema), tuple(sorted(map(codec.schema.position, effects))))


def genome_of(codec: Codec, factual: Array, limits: Limits, gene_map: GeneMap) -> Genome:
    """Return the genes of rows ``(i, f)``: what is searched is what is shown.

    The anchor of a gene is the value of the row, or the nearest permitted one where a range of the
    call forbids that value.
    """
    n_switches = len(gene_map.switched)
    levels = np.where(codec.is_categorical, GeneKind.LEVEL, GeneKind.GRID)
    kind = np.where(codec.grid[1] > 0, levels, GeneKind.REAL)
    of_switches = np.zeros(n_switches)
    origin, step, snap = (np.append(own, of_switches) for own in (*codec.grid, codec.still))
    nothing = np.zeros((len(factual), n_switches), dtype=factual.dtype)
    switchable = limits.movable[:, list(gene_map.switched)]
    genome = Genome.of(
        np.concatenate([limits.action_lower, nothing], axis=-1),
        np.concatenate([limits.action_upper, nothing + 1], axis=-1),
        np.concatenate([factual, nothing], axis=-1),
        movable=np.concatenate([limits.movable, switchable], axis=-1),
        kind=np.append(kind, [GeneKind.LEVEL] * n_switches).astype(np.int64),
        origin=origin,
        step=step,
        snap=snap,
    )
    outside = (factual < limits.lower) | (factual > limits.upper)
    forbidden = np.concatenate([outside & limits.movable, nothing.astype(np.bool_)], axis=-1)
    nearest = np.minimum(np.maximum(genome.anchor, genome.lower), genome.upper)
    return genome._replace(anchor=np.where(forbidden, nearest, genome.anchor))


def initial_population(
    genome: Genome,
    batch: InstanceBatch,
    reach: Array,
    training: Array,
    gene_map: GeneMap,
    size: int,
    seed: int,
    start: Start = "mixed",
) -> Array:
    """Return the candidates ``(i, size, g)`` that a search begins with.

    ``gaussian`` is the paper's: noise around the row. ``mixed`` changes few genes of most
    candidates: a share ``m**-u`` of the ``m`` genes that may move, from one to all with every order
    of magnitude alike. The new values are noise around the row for a third of the candidates, and
    those of a row of the prototype for the others. ``anywhere`` changes as few, to values that
    are anywhere between the bounds. The row itself is a candidate too. The random numbers come
    from the row's own stream.

    Shapes: reach ``(f,)``.
    """
    n_rows, n_genes = genome.anchor.shape
    streams = RowStreams.of(seed, batch.keys)
    n_draws = size * n_genes
    draws = streams.uniforms(0, Purpose.START, 5 * n_draws + size)
    blocks = draws[:, : 5 * n_draws].reshape(n_rows, 5, size, n_genes)
    first, second, third, fourth, fifth = np.moveaxis(blocks, 1, 0)
    own = np.broadcast_to(genome.anchor[:, None], (n_rows, size, n_genes))
    reach_of_genes = np.concatenate(
        [reach, np.ones(n_genes - len(reach), dtype=reach.dtype)]
    )  # switches: 0 or 1
    gaussian = own + _START_DEVIATION * reach_of_genes * quantiles(first)
    redrawn = permitted_values(second, genome.lower[:, None], genome.upper[:, None], genome.step)
    is_level = genome.kind == GeneKind.LEVEL
    if start == "gaussian":
        level = np.where(third < _LEVEL_REDRAW_CHANCE, redrawn, own)
        return genome.repair(np.where(is_level, level, gaussian))
    if start == "anywhere":
        changed = redrawn
        changed[..., gene_map.n_features :] = 1.0
    else:
        near = _neighbour_genes(batch, training, gene_map, fourth[..., 0])
        level = np.where(third < _NOISY_LEVEL_CHANCE, redrawn, near)
        is_noisy = np.arange(size) % 3 == 0
        changed = np.where(is_noisy[:, None], np.where(is_level, level, gaussian), near)
    n_movable = np.maximum(genome.movable[:, : gene_map.n_features].sum(-1), 1)
    share = powers(n_movable[:, None], -draws[:, 5 * n_draws :])
    if gene_map.switched:  # a feature and its switch change together, or the one is for nothing
        fifth[..., gene_map.n_features :] = fifth[..., list(gene_map.switched)]
    mixed = np.where(fifth < share[..., None], changed, own)
    mixed[:, 0] = own[:, 0]
    return genome.repair(mixed)


def _neighbour_genes(
    batch: InstanceBatch, training: Array, gene_map: GeneMap, draws: Array
) -> Array:
    """Return for every candidate a training row of its prototype as genes, ``(i, size, g)``."""
    count = (batch.neighbours >= 0).sum(1, keepdims=True)
    nth = even_codes(draws, count).astype(np.int64)
    chosen = np.take_along_axis(batch.neighbours, nth, 1)
    rows = training[chosen]  # (i, size, f)
    switches = np.ones((*rows.shape[:-1], len(gene_map.switched)), dtype=rows.dtype)
    return np.concatenate([rows, switches], axis=-1)


_NOT_GIVEN, _NOBODY = np.empty((0, 0, 0), np.bool_), np.empty((0, 0), np.bool_)


def read_genes(
    genes: Array, factual: Array, movable: Array, gene_map: GeneMap, avoided: Flags
) -> tuple[Array, Array]:
    """Return the rows ``(i, c, f)`` of genes ``(i, c, g)``, and what may be acted on or held.

    Shapes: factual, movable ``(i, f)``.
    """
    return _read(genes, None, factual, movable, gene_map, avoided)


def read_actions(
    rows: Array, by_hand: Array, factual: Array, gene_map: GeneMap, avoided: Flags
) -> tuple[Array, Array]:
    """Return rows ``(i, c, f)`` that are as they were but for what is done by hand, and that."""
    return _read(rows, by_hand, factual, None, gene_map, avoided)


def _read(
    values: Array,
    by_hand: Array | None,
    factual: Array,
    movable: Array | None,
    gene_map: GeneMap,
    avoided: Flags,
) -> tuple[Array, Array]:
    shape = *values.shape[:2], gene_map.n_features
    rows, acting = np.empty(shape), np.empty(shape, np.bool_)
    decode(
        np.require(values, requirements=("C", "W")),  # of others there would be another version
        _NOT_GIVEN if by_hand is None else np.ascontiguousarray(by_hand),
        np.ascontiguousarray(factual),
        _NOBODY if movable is None else np.ascontiguousarray(movable),
        gene_map.switches,
        avoided,
        rows,
        acting,
    )
    return rows, acting


@kernel
def decode(
    values: Floats,  # (i, c, g), of which the first f are the entries of a row
    by_hand: Flags,  # (i, c, f), or without entries
    factual: Floats,  # (i, f)
    movable: Flags,  # (i, f)
    switches: Ints,  # (f,), the gene that says whether a feature is acted on; 0 without
    avoided: Flags,  # (f, l)
    rows: Floats,  # (i, c, f); written
    acting: Flags,  # (i, c, f); written
) -> None:
    """Write the rows ``(i, c, f)`` that are asked for, and which cells may be acted on or held.

    Without flags of what is done by hand, the features that may be acted on are read from genes.
    """
    n_instances, n_candidates, n_features = rows.shape
    is_given = by_hand.size > 0
    for i in range(n_instances):
        for c in range(n_candidates):
            for f in range(n_features):
                own, value = factual[i, f], values[i, c, f]
                if is_given:
                    acts = by_hand[i, c, f]
                    value = value if acts else own
                else:
                    acts = movable[i, f] and (switches[f] == 0 or values[i, c, switches[f]] > 0.5)
                acting[i, c, f] = acts
                rows[i, c, f] = own if is_avoided(value, avoided[f]) else value
