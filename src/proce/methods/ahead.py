"""Compile the kernels of search and choice in a process of their own, beside the first use.

What is compiled is kept on disk, so this is worth something once per installation: while a command
learns its models and compiles what belongs to them, the other core compiles what it needs next.

Run: ``python -m proce.methods.ahead``.
"""

import atexit
import os
import subprocess
import sys

import numpy as np

from proce.arrays import Array
from proce.compiled.kernel import is_kept
from proce.methods.searching.choosing import Choice, Pool, choose, find_fronts
from proce.search import Evaluation, GeneKind, Genome, NSGA2Settings, nsga2
from proce.search.survival import keep_survivors


def compile_beside() -> None:
    """Start to compile in a second process, where nothing is kept yet and a core is idle."""
    if is_kept(keep_survivors) is not False or (os.cpu_count() or 1) < 2:
        return
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(
        [sys.executable, "-m", "proce.methods.ahead"], stdin=nowhere, stdout=nowhere, stderr=nowhere
    )
    atexit.register(_end, process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the process where the command ended before it; what it has compiled is kept."""
    process.terminate()
    process.wait()


def compile_search_and_choice() -> None:
    """Search the plane for points near two corners, and choose among them."""
    start = np.full((1, 3), 0.5)
    kinds = np.array([GeneKind.REAL, GeneKind.GRID, GeneKind.LEVEL])
    genome = Genome.of(
        np.zeros((1, 3)), np.ones((1, 3)), start, kind=kinds, step=np.array([0.0, 0.1, 0.0])
    )
    settings = NSGA2Settings(population_size=8, n_generations=16)
    result = nsga2(_near_two_corners, genome, np.zeros((1, 8, 3)), settings, seed=0)
    genes, losses, violation, _ = result.population
    pool = Pool(genes, genes != start, losses, violation)
    choose(pool, Choice("closest", 2, 2.0, np.ones(3)))
    find_fronts(genes, losses, violation <= 0)


def _near_two_corners(genes: Array, instances: Array) -> Evaluation:
    losses = np.stack([genes.sum(-1), (1 - genes).sum(-1), genes[..., 0]], axis=-1)
    return Evaluation(losses, np.zeros(genes.shape[:2]))


if __name__ == "__main__":
    compile_search_and_choice()
