"""How near counterfactuals are (Eqs. 21 and 22), and how few features they change.

A cell that is missing before and after did not change.
"""

import torch
from torch import Tensor

from proce.objective import MixedDistance
from proce.schema import Codec, Continuous

_MIN_MOVE = 1e-9  # on the unit range; a smaller difference is rounding


def categorical_proximity(
    codec: Codec, factual: Tensor, rows: Tensor, found: Tensor | None = None
) -> float:
    """Return the mean of :func:`levels_kept` (Eq. 21) over rows with a counterfactual.

    Parameters
    ----------
    codec
        The codec of the rows.
    factual, rows
        ``(i, f)``, the rows before and after.
    found
        ``(i,)``, whether a row has a counterfactual; by default all have one. Rows without one do
        not count, because their distance is not defined.

    Returns
    -------
    float
        The mean; NaN where no row has a counterfactual or no feature has levels.
    """
    return _mean(levels_kept(codec, factual, rows), found)


def continuous_proximity(
    codec: Codec, factual: Tensor, rows: Tensor, found: Tensor | None = None
) -> float:
    """Return minus the mean of :func:`squared_gap` (Eq. 22) over rows with a counterfactual.

    The parameters are those of :func:`categorical_proximity`; the result is NaN where no feature
    is a number.
    """
    return -_mean(squared_gap(codec, factual, rows), found)


def levels_kept(codec: Codec, factual: Tensor, rows: Tensor) -> Tensor:
    """Return how many levels of each row stayed as they were, ordinal ones included, ``(i,)``.

    The paper's text counts matches, '5 out of 6'; the printed sum goes below zero. The result is
    NaN where no feature has levels.
    """
    numbers = _numbers(codec)
    levels = [position for position in range(len(codec.schema)) if position not in numbers]
    if not levels:
        return factual.new_full((len(rows),), torch.nan)
    return (factual[:, levels] == rows[:, levels]).double().sum(-1)


def squared_gap(codec: Codec, factual: Tensor, rows: Tensor) -> Tensor:
    """Return the squared distance of each row's numbers on the unit range, ``(i,)``.

    The distance is NaN where no feature is a number.
    """
    numbers = _numbers(codec)
    if not numbers:
        return factual.new_full((len(rows),), torch.nan)
    return _gap(factual, rows)[:, numbers].square().sum(-1)


def mad_l1(codec: Codec, factual: Tensor, rows: Tensor, train: Tensor) -> Tensor:
    """Return the L1 distance of each row's numbers in median absolute deviations, ``(i,)``.

    The deviations are those of training rows ``(n, f)``. The distance is NaN where no feature is a
    number.
    """
    numbers = _numbers(codec)
    if not numbers:
        return factual.new_full((len(rows),), torch.nan)
    return MixedDistance.by_deviation(codec, train)(rows, factual)[:, numbers].sum(-1)


def robust_distance(scale: Codec, codec: Codec, factual: Tensor, rows: Tensor) -> Tensor:
    """Return Gower's distance ``(i,)`` in spans of the bulk of the training rows.

    Parameters
    ----------
    scale
        The scale: ``Codec.fit(schema, frame, "bulk")``.
    codec, factual, rows
        The codec of the rows ``(i, f)`` before and after, and these rows.
    """
    before, after = (scale.to_unit(codec.to_raw(each)) for each in (factual, rows))
    return MixedDistance.gower(scale)(after, before).mean(-1)


def changed(codec: Codec, factual: Tensor, rows: Tensor) -> Tensor:
    """Return flags ``(i, f)`` for the features that are not as they were."""
    appeared = codec.missing(factual) != codec.missing(rows)
    return appeared | (_gap(factual, rows).abs() > _MIN_MOVE)


def _numbers(codec: Codec) -> list[int]:
    """Return the positions of the features that are numbers."""
    features = enumerate(codec.schema)
    return [position for position, feature in features if isinstance(feature, Continuous)]


def _gap(factual: Tensor, rows: Tensor) -> Tensor:
    """Return the difference of each cell; 0 where one is missing."""
    return (rows - factual).nan_to_num(nan=0.0)


def _mean(values: Tensor, found: Tensor | None) -> float:
    kept = values if found is None else values[found]
    return float(kept.mean()) if len(kept) else torch.nan
