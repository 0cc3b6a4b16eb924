"""Whether advice still holds when the model is trained again."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from proce.classifier.refits import draw_within_classes
from proce.errors import ModelError

Model = TypeVar("Model")


def bootstrap_refits(
    fit: Callable[[NDArray[np.intp], int], Model], label: Any, *, n_refits: int = 5, seed: int = 0
) -> tuple[Model, ...]:
    """Train a model again on resampled training rows, each time with a seed of its own.

    Rows are drawn with replacement within each class, so that no class dies out.

    Parameters
    ----------
    fit
        Gets the positions of the drawn rows and a seed, and returns the model.
    label
        The class of each training row.
    n_refits
        How many models are trained.
    seed
        The seed of the draws. The models get the seeds ``seed + 1``, ``seed + 2`` and so on.

    Examples
    --------
    >>> bootstrap_refits(lambda rows, seed: (rows.tolist(), seed), ["no", "yes"], n_refits=2)
    (([0, 1], 1), ([0, 1], 2))
    """
    if n_refits < 1:
        raise ModelError(f"n_refits is {n_refits!r}; expected a whole number from 1 on.")
    labels = np.asarray(label)
    if labels.ndim != 1 or not labels.size:
        raise ModelError(
            f"the labels have shape {labels.shape}; expected one label for each training row."
        )
    generator = np.random.default_rng(seed)
    return tuple(
        fit(draw_within_classes(labels, generator), seed + number)
        for number in range(1, n_refits + 1)
    )
