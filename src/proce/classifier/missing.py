"""A model that refuses missing cells: the error names the feature."""

from collections.abc import Callable

import numpy as np

from proce.arrays import Array
from proce.errors import ModelError


def name_missing(
    error: ModelError, missing: Array, names: tuple[str, ...], ask: Callable[[Array], object]
) -> ModelError:
    """Return an error that names the feature whose missing cells a model refuses.

    Where the model fails for another reason, the error is returned as it is.

    Parameters
    ----------
    error
        What the model raised for some rows.
    missing
        ``(n, f)``, which cells of these rows are missing.
    names
        The names of the features.
    ask
        Asks the model about some of the rows, given by position.
    """

    def refuses(position: int) -> bool:
        try:
            ask(np.array([position]))
        except ModelError:
            return True
        return False

    complete = np.flatnonzero(~missing.any(1))
    if not bool(missing.any()) or (len(complete) and refuses(int(complete[0]))):
        return error
    alone = missing & (missing.sum(1, keepdims=True) == 1)
    for feature in np.flatnonzero(alone.any(0)).tolist():
        row = int(alone[:, feature].astype(np.int32).argmax())
        if refuses(row):
            return _refusal(error, f"feature {names[feature]!r} is missing in row {row}")
    row = int(missing.any(1).astype(np.int32).argmax())
    listed = ", ".join(repr(names[f]) for f in np.flatnonzero(missing[row]).tolist())
    return _refusal(error, f"row {row} lacks {listed}")


def _refusal(error: ModelError, where: str) -> ModelError:
    return type(error)(
        f"{error} The model takes no missing cells there: {where}. Fill the column in, or put an"
        " imputer in front of the model, in one pipeline."
    )
