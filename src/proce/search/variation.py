"""Children: mating, crossover and mutation of all instances at once.

There are three implementations: numba on the CPU, Triton on CUDA devices, and PyTorch elsewhere and
where neither is installed. They draw the same numbers and differ by rounding alone. Every draw
belongs to a row (see :mod:`proce.streams`), so a child does not depend on what else is in the
batch.
"""

import numpy as np
import torch
from torch import Tensor

from proce.compiled import engine
from proce.compiled.gpu.engine import use_triton
from proce.search.genome import GeneKind, Genome
from proce.search.settings import NSGA2Settings
from proce.streams import Purpose, RowStreams, halves, power, uniform, whole_numbers


def offspring(
    genes: Tensor,
    genome: Genome,
    streams: RowStreams,
    generation: int,
    n_offspring: int,
    settings: NSGA2Settings,
) -> Tensor:
    """Return children ``(i, n_offspring, g)``, each gene on a value that it is allowed.

    Parameters
    ----------
    genes
        ``(i, n, g)``, the parents, the better ones first.
    genome, streams
        Those of the same instances.
    generation
        The number of the generation; it decides which numbers of the streams are drawn.
    n_offspring
        How many children; with an odd number the last pair has one.
    settings
        The operators.
    """
    n_pairs = (n_offspring + 1) // 2
    if engine.use_kernels(genes.device):
        children = _offspring_compiled(genes, genome, streams, generation, n_pairs, settings)
    elif settings.mating == "tournament" and use_triton(genes.device):
        from proce.search.gpu.variation import breed

        return breed(genes, genome, streams, generation, n_offspring, settings)
    else:
        mate = tournament if settings.mating == "tournament" else random_pairs
        parents = mate(streams, generation, genes.shape[1], n_pairs)
        children = cross(genes, parents, genome, streams, generation, settings)
        children = mutate(children, genome, streams, generation, settings)
    return children[:, :n_offspring].contiguous()


def _offspring_compiled(
    genes: Tensor,
    genome: Genome,
    streams: RowStreams,
    generation: int,
    n_pairs: int,
    settings: NSGA2Settings,
) -> Tensor:
    from proce.search.kernels.variation import offspring as kernel

    i, n, g = genes.shape
    is_tournament = settings.mating == "tournament"
    if is_tournament:
        parents = np.empty((i, n_pairs, 2), np.int64)
    else:
        parents = random_pairs(streams, generation, n, n_pairs).numpy()
    children = np.empty((i, 2 * n_pairs, g))
    kernel(
        genes.numpy(),
        parents,
        is_tournament,
        *genome.arrays,
        streams.words,
        generation,
        settings.crossover_probability,
        settings.crossover == "sbx",
        settings.crossover_eta,
        settings.mutation_rate,
        settings.revert_rate,
        settings.mutation_eta,
        children,
    )
    return torch.from_numpy(children)


def tournament(streams: RowStreams, generation: int, n: int, n_pairs: int) -> Tensor:
    """Return parents ``(i, pairs, 2)``: the better of two at random, then of two others.

    The population is sorted, so the better one is the smaller position.
    """
    bits = streams.bits(generation, Purpose.MATING, 2 * n_pairs)  # (i, 2 * pairs)
    one = torch.minimum(*whole_numbers(bits[:, 0::2], n))
    other = torch.minimum(*whole_numbers(bits[:, 1::2], n - 1))
    other = other + ((other >= one) & (n > 1))
    return torch.stack([one, other], dim=-1)


def random_pairs(streams: RowStreams, generation: int, n: int, n_pairs: int) -> Tensor:
    """Return parents ``(i, pairs, 2)`` by shuffling the population, again and again if need be."""
    n_shuffles = -(-2 * n_pairs // n)
    bits = streams.bits(generation, Purpose.MATING, n_shuffles * n)
    shuffled = bits.view(-1, n_shuffles, n).argsort(dim=-1, stable=True)
    return shuffled.flatten(1)[:, : 2 * n_pairs].reshape(-1, n_pairs, 2)


def cross(
    genes: Tensor,
    parents: Tensor,
    genome: Genome,
    streams: RowStreams,
    generation: int,
    settings: NSGA2Settings,
) -> Tensor:
    """Return two children ``(i, 2 * pairs, g)`` of each pair, side by side."""
    (i, n_pairs, _), g = parents.shape, genome.n_genes
    a, b = (genes.gather(1, p[..., None].expand(-1, -1, g)) for p in parents.unbind(-1))
    crosses = streams.uniforms(generation, Purpose.CROSSING, n_pairs)[..., None]
    crosses = crosses < settings.crossover_probability  # (i, pairs, 1)
    bits = streams.bits(generation, Purpose.CROSSOVER, n_pairs * g).view(i, n_pairs, g)
    low, high = torch.minimum(a, b), torch.maximum(a, b)
    blends = crosses & (genome.kind != GeneKind.LEVEL) & (bits & 1 != 0) & (high > low)
    blends &= settings.crossover == "sbx"
    down, up = _blend(low, high, genome, uniform(bits), settings.crossover_eta)
    one, other = torch.where(blends, down, a), torch.where(blends, up, b)
    swaps = crosses & (bits & 2 != 0)
    one, other = torch.where(swaps, other, one), torch.where(swaps, one, other)
    return torch.stack([one, other], dim=2).flatten(1, 2)


def _blend(
    low: Tensor, high: Tensor, genome: Genome, u: Tensor, eta: float
) -> tuple[Tensor, Tensor]:
    """Return two values spread around two parents (simulated binary crossover)."""
    gap = high - low
    below = 1 + 2 * (low - genome.lower[:, None]).clamp(min=0) / gap
    above = 1 + 2 * (genome.upper[:, None] - high).clamp(min=0) / gap
    down = _spread_factor(u * (2 - power(below, -(eta + 1))), eta) * gap
    up = _spread_factor(u * (2 - power(above, -(eta + 1))), eta) * gap
    return 0.5 * (low + high - down), 0.5 * (low + high + up)


def _spread_factor(share: Tensor, eta: float) -> Tensor:
    """Return the factor by which parents are drawn apart."""
    return power(torch.where(share <= 1, share, 1 / (2 - share)), 1 / (eta + 1))


def mutate(
    children: Tensor,
    genome: Genome,
    streams: RowStreams,
    generation: int,
    settings: NSGA2Settings,
) -> Tensor:
    """Return the children with some genes changed, some reverted, and all repaired."""
    i, c, g = children.shape
    n_movable = genome.movable.sum(-1, keepdim=True).clamp(min=1)
    share = (1 / n_movable.double()).clamp(max=0.5)[:, None]  # (i, 1, 1)
    drawn = streams.bits(generation, Purpose.CHANGE, c * g + c)
    reverting, changing = halves(drawn[:, : c * g].view(i, c, g))
    whim = uniform(drawn[:, c * g :])[..., None]  # (i, c, 1), how much of itself a child gives up
    u = streams.uniforms(generation, Purpose.MUTATION, c * g).view(i, c, g)
    level = _another_level(children, genome, u)
    shifted = _shift(children, genome, u, settings.mutation_eta)
    new = torch.where(genome.kind == GeneKind.LEVEL, level, shifted)
    children = torch.where(changing < settings.mutation_rate * share, new, children)
    reverts = reverting < settings.revert_rate * (whim * whim * whim)
    return genome.repair(torch.where(reverts, genome.anchor[:, None], children))


def _another_level(value: Tensor, genome: Genome, u: Tensor) -> Tensor:
    """Return a random level other than the present one."""
    lower, upper = genome.lower[:, None], genome.upper[:, None]
    present = (lower <= value) & (value <= upper)
    level = lower + torch.floor(u * (upper - lower + torch.where(present, 0.0, 1.0)))
    return level + (present & (level >= value))


def _shift(value: Tensor, genome: Genome, u: Tensor, eta: float) -> Tensor:
    """Return a value shifted by polynomial mutation, by at least a step; any if it is missing.

    Without the step a coarse grid would round most shifts away.
    """
    lower, upper = genome.lower[:, None], genome.upper[:, None]
    width = upper - lower
    present = torch.minimum(torch.maximum(value, lower), upper)
    room = torch.where(u < 0.5, present - lower, upper - present)
    room = torch.where(width > 0, room / width, 0.0)
    tail = torch.minimum(u, 1 - u) * 2
    reach = power(tail + (1 - tail) * power(1 - room, eta + 1), 1 / (eta + 1))
    shift = torch.maximum((1 - reach) * width, genome.step)
    return torch.where(
        torch.isnan(value),
        lower + u * width,
        torch.where(u < 0.5, present - shift, present + shift),
    )
