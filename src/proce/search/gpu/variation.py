"""Children on a CUDA device, in one call of a kernel."""

import torch
import triton
from torch import Tensor

from proce.search.genome import Genome
from proce.search.gpu.breeding import offspring_kernel
from proce.search.settings import NSGA2Settings
from proce.streams import RowStreams

_PAIRS_AT_ONCE = 16  # of one program


def breed(
    genes: Tensor,
    genome: Genome,
    streams: RowStreams,
    generation: int,
    n_offspring: int,
    settings: NSGA2Settings,
) -> Tensor:
    """Return children ``(i, n_offspring, g)``; the parameters are those of ``offspring``.

    Mating is by tournament.
    """
    n_instances, n_parents, n_genes = genes.shape
    n_pairs = (n_offspring + 1) // 2
    children = torch.empty(
        n_instances, n_offspring, n_genes, dtype=genes.dtype, device=genes.device
    )
    offspring_kernel[(n_instances, triton.cdiv(n_pairs, _PAIRS_AT_ONCE))](
        genes,
        genome.lower.contiguous(),
        genome.upper.contiguous(),
        genome.anchor.contiguous(),
        genome.movable.contiguous().view(torch.uint8),
        genome.kind,
        genome.origin,
        genome.step,
        genome.snap,
        streams.states,
        children,
        generation,
        n_parents,
        n_pairs,
        n_offspring,
        n_genes,
        PROBABILITY=settings.crossover_probability,
        CROSSOVER_ETA=settings.crossover_eta,
        MUTATION_RATE=settings.mutation_rate,
        REVERT_RATE=settings.revert_rate,
        MUTATION_ETA=settings.mutation_eta,
        BLENDS=settings.crossover == "sbx",
        P=_PAIRS_AT_ONCE,
        G=triton.next_power_of_2(n_genes),
    )
    return children
