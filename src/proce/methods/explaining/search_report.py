"""How far a search has come, as a caller is told."""

from proce.losses import Loss
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
    losses = search.best_losses[search.best_losses[:, Loss.PREDICTION].isfinite()]
    return Progress(
        "search",
        n_finished,
        n_rows,
        search.generation,
        float((-losses[:, Loss.PREDICTION]).exp().mean()),
        float(losses[:, Loss.DISTANCE].mean()),
        float(search.front_size.double().mean()),
    )
