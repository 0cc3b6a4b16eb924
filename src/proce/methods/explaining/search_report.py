"""How far a search has come, as a caller is told."""

import math

import numpy as np

from proce.losses import Loss, chance_of_loss
from proce.methods.calls.method import Progress
from proce.search import SearchProgress


def search_progress(search: SearchProgress, n_finished: int, n_rows: int) -> Progress:
    """Return what a caller is told after a generation.

    Parameters
    ----------
    search
        How far the search has come.
    n_finished, n_rows
        How many rows of the call have an outcome, and how many there are.
    """
    losses = search.best_losses[np.isfinite(search.best_losses[:, Loss.PREDICTION])]
    chance, distance = math.nan, math.nan  # while no candidate of any row is feasible
    if len(losses):
        chance = float(chance_of_loss(losses[:, Loss.PREDICTION]).mean())
        distance = float(losses[:, Loss.DISTANCE].mean())
    return Progress(
        "search",
        n_finished,
        n_rows,
        search.generation,
        chance,
        distance,
        float(search.front_size.mean()),
    )
