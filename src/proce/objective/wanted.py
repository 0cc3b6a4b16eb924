"""What is asked for, before anything follows from it: by the genes of a search, or by hand.

An action that leads to an avoided level is none.
"""

import numpy as np
import torch
from torch import Tensor

from proce.compiled import engine
from proce.objective.avoided import AvoidedLevels
from proce.objective.start import GeneMap

MIN_DIFFERENCE = 1e-9  # between entries that are not the same
_NOT_GIVEN, _NOBODY = np.empty((0, 0, 0), np.bool_), np.empty((0, 0), np.bool_)


def read_genes(
    genes: Tensor, factual: Tensor, movable: Tensor, gene_map: GeneMap, avoided: AvoidedLevels
) -> tuple[Tensor, Tensor]:
    """Return the rows ``(i, c, f)`` of genes ``(i, c, g)``, and what may be acted on or held.

    Parameters
    ----------
    genes
        The candidates of a search.
    factual, movable
        ``(i, f)``, the rows as they are, and which features may be acted on at all.
    gene_map
        Which gene belongs to which feature.
    avoided
        The levels that no action may lead to.
    """
    if engine.use_kernels(genes.device):
        return _read_compiled(genes, None, factual, movable, gene_map, avoided)
    rows = avoided.revert(genes[..., : gene_map.n_features], factual[:, None])
    return rows, movable[:, None] & gene_map.acting(genes)


def read_actions(
    rows: Tensor, by_hand: Tensor, factual: Tensor, gene_map: GeneMap, avoided: AvoidedLevels
) -> tuple[Tensor, Tensor]:
    """Return rows ``(i, c, f)`` that are as they were but for what is done by hand, and that.

    Parameters
    ----------
    rows, by_hand
        ``(i, c, f)``, values, and which of them count.
    factual, gene_map, avoided
        As for :func:`read_genes`.
    """
    if engine.use_kernels(rows.device):
        return _read_compiled(rows, by_hand, factual, None, gene_map, avoided)
    wanted = torch.where(by_hand, rows, factual[:, None])
    return avoided.revert(wanted, factual[:, None]), by_hand


def changed_cells(rows: Tensor, factual: Tensor) -> Tensor:
    """Return which cells of rows ``(i, c, f)`` are not those of the factual rows ``(i, f)``."""
    if not engine.use_kernels(rows.device):
        return (rows - factual[:, None]).abs() > MIN_DIFFERENCE
    from proce.objective.kernels.wanted import mark_changes

    changed = np.empty(rows.shape, np.bool_)
    mark_changes(rows.contiguous().numpy(), factual.contiguous().numpy(), MIN_DIFFERENCE, changed)
    return torch.from_numpy(changed)


def _read_compiled(
    values: Tensor,
    by_hand: Tensor | None,
    factual: Tensor,
    movable: Tensor | None,
    gene_map: GeneMap,
    avoided: AvoidedLevels,
) -> tuple[Tensor, Tensor]:
    from proce.objective.kernels.wanted import read_wanted

    shape = *values.shape[:2], gene_map.n_features
    rows, acting = np.empty(shape), np.empty(shape, np.bool_)
    read_wanted(
        values.contiguous().numpy(),
        _NOT_GIVEN if by_hand is None else by_hand.contiguous().numpy(),
        factual.contiguous().numpy(),
        _NOBODY if movable is None else movable.contiguous().numpy(),
        gene_map.switches,
        avoided.table.numpy(),
        rows,
        acting,
    )
    return torch.from_numpy(rows), torch.from_numpy(acting)
