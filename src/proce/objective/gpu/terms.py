"""The terms of a score that need no model, on a CUDA device.

They are those of :mod:`proce.objective.kernels.terms`. A program takes some candidates, whichever
instances they belong to, and looks at one feature after the other.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from proce.objective.limits import LIMIT_ROUNDING
from proce.objective.prediction import MIN_PROBABILITY
from proce.objective.requirement import SHORTFALL_ROUNDING

_LIMIT_ROUNDING, _LARGEST = tl.constexpr(LIMIT_ROUNDING), tl.constexpr(1.7976931348623157e308)
_SHORTFALL_ROUNDING = tl.constexpr(SHORTFALL_ROUNDING)
_MIN_PROBABILITY = tl.constexpr(MIN_PROBABILITY)
_BY_ACTIONS, _SQUARED = tl.constexpr(1), tl.constexpr(3)  # as the kernel of the CPU has them
_AT_ONCE = 128  # candidates of one program


@triton.jit
def _gap(
    value: tl.tensor,
    other: tl.tensor,
    reach: tl.tensor,
    tables: tl.tensor,
    begin: tl.tensor,
    n_levels: tl.tensor,
    is_there: tl.tensor,
) -> tl.tensor:
    """Return how far apart two entries of a feature are, on the unit range or by its table."""
    if n_levels == 0:
        gap = tl.abs((value - other) / reach)
        gap = tl.where(gap != gap, 0.0, tl.minimum(gap, _LARGEST))
    else:
        ours = tl.minimum(tl.where(value > 0, value, 0.0).to(tl.int64), n_levels - 1)
        theirs = tl.minimum(tl.where(other > 0, other, 0.0).to(tl.int64), n_levels - 1)
        gap = tl.load(tables + begin + theirs * n_levels + ours, mask=is_there, other=0.0)
    return gap


@triton.jit
def distance_kernel(
    point: tl.tensor,  # (i, c, f)
    expected: tl.tensor,  # (i, c, f)
    acted_on: tl.tensor,  # (i, c, f) as bytes
    held: tl.tensor,  # (i, c, f) as bytes
    instances: tl.tensor,  # (i, 8, f)
    reach: tl.tensor,  # (f,)
    tables: tl.tensor,  # (t,)
    table_of: tl.tensor,  # (f, 2)
    bounds: tl.tensor,  # (2,): the charge per action, and the most actions
    losses: tl.tensor,  # (i, c, 3); written
    violation: tl.tensor,  # (i, c); added to
    n_all: tl.tensor,
    n_candidates: tl.tensor,
    n_features: tl.tensor,
    MEASURE: tl.constexpr,
    B: tl.constexpr,
) -> None:
    """Write the distance of candidates, and add what is beyond their limits."""
    n = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    is_there = n < n_all
    own = (n // n_candidates) * 8 * n_features
    distance, excess = tl.zeros([B], tl.float64), tl.zeros([B], tl.float64)
    count = tl.zeros([B], tl.float64)
    for f in range(n_features):
        value = tl.load(point + n * n_features + f, mask=is_there, other=0.0)
        acts = tl.load(acted_on + n * n_features + f, mask=is_there, other=0) != 0
        acts = acts | (tl.load(held + n * n_features + f, mask=is_there, other=0) != 0)
        known = instances + own + f
        factual = tl.load(known, mask=is_there, other=0.0)
        weight = tl.load(known + n_features, mask=is_there, other=0.0)
        lower = tl.load(known + 2 * n_features, mask=is_there, other=0.0)
        upper = tl.load(known + 3 * n_features, mask=is_there, other=0.0)
        least = tl.load(known + 4 * n_features, mask=is_there, other=0.0)
        most = tl.load(known + 5 * n_features, mask=is_there, other=0.0)
        lowest = tl.load(known + 6 * n_features, mask=is_there, other=0.0)
        highest = tl.load(known + 7 * n_features, mask=is_there, other=0.0)
        scale = tl.load(reach + f)
        below = tl.where(acts, lowest, least) - value
        above = value - tl.where(acts, highest, most)
        beyond = tl.where(below > above, below, above) / scale
        at_end = ((value == lower) & (lower < lowest)) | ((value == upper) & (upper > highest))
        counts = (beyond > _LIMIT_ROUNDING) & (below == below) & (above == above)
        excess += tl.where(counts & ~(acts & at_end), tl.minimum(beyond, _LARGEST), 0.0)
        count += acts.to(tl.float64)
        begin, n_levels = tl.load(table_of + 2 * f), tl.load(table_of + 2 * f + 1)
        if MEASURE == _BY_ACTIONS:
            other = tl.load(expected + n * n_features + f, mask=is_there, other=0.0)
            gap = _gap(value, other, scale, tables, begin, n_levels, is_there)
            distance += tl.where(acts, gap * weight, 0.0)
        elif MEASURE > _BY_ACTIONS:
            gap = _gap(value, factual, scale, tables, begin, n_levels, is_there)
            if MEASURE == _SQUARED:
                gap = tl.where(n_levels == 0, gap * gap, gap)  # tables hold squares
            distance += gap * weight
    total = excess + tl.maximum(count - tl.load(bounds + 1), 0.0)
    if MEASURE > 0:
        distance += tl.load(bounds) * count
    tl.store(losses + 3 * n + 2, distance, mask=is_there)
    before = tl.load(violation + n, mask=is_there, other=0.0)
    tl.store(violation + n, before + total, mask=is_there)


@triton.jit
def shortfall_kernel(
    chances: tl.tensor,  # (i, c, k)
    target: tl.tensor,  # (i,)
    requirement: tl.tensor,  # (5,)
    losses: tl.tensor,  # (i, c, 3); written
    violation: tl.tensor,  # (i, c); added to
    n_all: tl.tensor,
    n_candidates: tl.tensor,
    K: tl.constexpr,
    B: tl.constexpr,
) -> None:
    """Write the prediction loss, and add what the probabilities lack to reach the target."""
    n = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    is_there = n < n_all
    wanted = tl.load(target + n // n_candidates, mask=is_there, other=0)
    own = tl.load(chances + n * K + wanted, mask=is_there, other=0.0)
    second = tl.load(chances + n * K + 1, mask=is_there, other=0.0)
    threshold, lead = tl.load(requirement), tl.load(requirement + 3)
    likely = tl.where(own < _MIN_PROBABILITY, _MIN_PROBABILITY, own)  # what is no number stays none
    tl.store(losses + 3 * n, -tl.log(likely), mask=is_there)
    tl.store(losses + 3 * n + 1, tl.zeros([B], tl.float64), mask=is_there)
    if threshold != threshold:
        rival, is_first = tl.full([B], -1.0, tl.float64), is_there
        for k in tl.static_range(K):
            other = tl.load(chances + n * K + k, mask=is_there, other=0.0)
            rival = tl.where((k != wanted) & ((other > rival) | (other != other)), other, rival)
            behind = (other < own) | ((other == own) & (k > wanted))
            is_first = is_first & ((k == wanted) | behind)
        lacking = rival + lead - own
        if K == 2:
            lacking = lacking / 2
    else:
        is_first = (second >= threshold) == (wanted == 1)
        past_upper, past_lower = tl.load(requirement + 1), tl.load(requirement + 2)
        lacking = tl.where(wanted == 1, past_upper - second, second - past_lower)
    enough = is_first & (lacking <= _SHORTFALL_ROUNDING)
    floor = tl.where(lacking > _SHORTFALL_ROUNDING, lacking, _SHORTFALL_ROUNDING)
    lacking = tl.where(enough, 0.0, tl.where(lacking != lacking, lacking, floor))
    missing = tl.load(requirement + 4) - own
    lacking = tl.where((missing > lacking) | (missing != missing), missing, lacking)
    lacking = tl.where(lacking > 0, lacking, tl.where(lacking != lacking, lacking, 0.0))
    before = tl.load(violation + n, mask=is_there, other=0.0)
    tl.store(violation + n, before + lacking, mask=is_there)


def score_on_device(
    rows: tuple[Tensor, Tensor, Tensor, Tensor],
    chances: Tensor,
    target: Tensor,
    instances: Tensor,
    measured: tuple[Tensor, Tensor, Tensor],
    measure: int,
    bounds: Tensor,
    requirement: Tensor,
) -> tuple[Tensor, Tensor]:
    """Return losses ``(i, c, 3)`` and the violation ``(i, c)``, but for the rules.

    Parameters
    ----------
    rows
        The rows ``(i, c, f)`` of candidates, those that were expected, and flags for the cells that
        are acted on and held.
    chances, target, instances
        As :class:`proce.objective.compiled.compiled_terms.CompiledTerms` has them, on the device.
    measured, measure
        The reach, the tables and where they begin, and what the distance is.
    bounds
        ``(2,)``: the charge per action, and the most actions that are allowed.
    requirement
        ``(5,)``, what is required of the probabilities.
    """
    point = rows[0].contiguous()
    n_instances, n_candidates, n_features = point.shape
    losses = torch.empty(n_instances, n_candidates, 3, dtype=point.dtype, device=point.device)
    violation = torch.zeros(n_instances, n_candidates, dtype=point.dtype, device=point.device)
    n_all = n_instances * n_candidates
    grid = (triton.cdiv(n_all, _AT_ONCE),)
    if not n_all:
        return losses, violation
    shortfall_kernel[grid](
        chances.double().contiguous(),
        target,
        requirement,
        losses,
        violation,
        n_all,
        n_candidates,
        K=chances.shape[-1],
        B=_AT_ONCE,
    )
    expected, acted_on, held = rows[1:]
    distance_kernel[grid](
        point,
        expected.contiguous() if measure == 1 else point,
        acted_on.contiguous().view(torch.uint8),
        held.contiguous().view(torch.uint8),
        instances,
        *measured,
        bounds,
        losses,
        violation,
        n_all,
        n_candidates,
        n_features,
        MEASURE=measure,
        B=_AT_ONCE,
    )
    return losses, violation
