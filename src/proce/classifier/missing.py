"""A model that refuses missing cells: the error names the feature."""

from collections.abc import Callable

import torch
from torch import Tensor

from proce.errors import ModelError


def name_missing(
    error: ModelError, missing: Tensor, names: tuple[str, ...], ask: Callable[[Tensor], object]
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
            ask(torch.tensor([position]))
        except ModelError:
            return True
        return False

    complete = torch.nonzero(~missing.any(1)).flatten()
    if not bool(missing.any()) or (len(complete) and refuses(int(complete[0]))):
        return error
    alone = missing & (missing.sum(1, keepdim=True) == 1)
    for feature in torch.nonzero(alone.any(0)).flatten().tolist():
        row = int(alone[:, feature].int().argmax())
        if refuses(row):
            return _refusal(error, f"feature {names[feature]!r} is missing in row {row}")
    row = int(missing.any(1).int().argmax())
    listed = ", ".join(repr(names[f]) for f in torch.nonzero(missing[row]).flatten().tolist())
    return _refusal(error, f"row {row} lacks {listed}")


def _refusal(error: ModelError, where: str) -> ModelError:
    return type(error)(
        f"{error} The model takes no missing cells there: {where}. Fill the column in, or put an"
        " imputer in front of the model, in one pipeline."
    )
