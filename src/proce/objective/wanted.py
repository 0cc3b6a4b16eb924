"""What is asked for, before anything follows from it: by the genes of a search, or by hand.

An action that leads to an avoided level is none.
"""

import numpy as np

from proce.arrays import Array, Flags, Floats, Ints
from proce.compiled.kernel import kernel
from proce.objective.start import GeneMap
from proce.objective.terms import is_avoided

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
    read_wanted(
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
def read_wanted(
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
