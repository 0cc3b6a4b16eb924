"""DirectLiNGAM: the causal order of linear equations with noise that is not Gaussian.

S. Shimizu et al., "DirectLiNGAM" (JMLR 12, 2011), with the pairwise likelihood ratios of
A. Hyvärinen, S. M. Smith (JMLR 14, 2013). In each step the feature that looks least like a
consequence of the others comes next in the order, and its influence is taken out of the rest.
"""

from collections.abc import Sequence

import numpy as np
from scipy import stats

from proce.arrays import Flags, Floats, Ints
from proce.causal.discovery.knowledge import Knowledge

_BLOCK_SIZE = 2**16  # numbers at a time, so that intermediate results stay in the cache


def lingam(rows: Floats, knowledge: Knowledge, alpha: float) -> Flags:
    """Return the edges ``[cause, effect]`` of rows ``(i, f)``."""
    # Every feature is regressed on those before it in the causal order. The weakest cause is
    # dropped as long as its t-test is not significant at `alpha`; the required stay.
    order = causal_order(rows, knowledge)
    edges = np.zeros((rows.shape[1],) * 2, dtype=bool)
    centred = rows - rows.mean(0)
    moments = centred.T @ centred
    for rank, effect in enumerate(order):
        allowed = [cause for cause in order[:rank] if not knowledge.impossible[cause, effect]]
        required = knowledge.required[:, effect]
        edges[_causes(moments, len(rows), effect, allowed, required, alpha), effect] = True
    return edges


def causal_order(rows: Floats, knowledge: Knowledge) -> list[int]:
    """Return the features' positions, causes before effects."""
    remainder = rows - rows.mean(0)
    waiting = list(range(rows.shape[1]))
    order: list[int] = []
    while len(waiting) > 1:
        z = np.asfortranarray(remainder[:, waiting])
        z /= z.std(0)
        before = knowledge.before[np.ix_(waiting, waiting)]
        ready = np.flatnonzero(~before.any(0))
        first = int(ready[0])
        if len(ready) > 1:
            doubt = np.square(np.minimum(0.0, evidence(z, ready)))  # (ready, waiting)
            first = int(ready[np.where(before[ready], 0.0, doubt).sum(1).argmin()])
        chosen = waiting.pop(first)
        order.append(chosen)
        cause = z[:, first]
        remainder[:, waiting] -= cause[:, None] * (cause @ remainder[:, waiting] / len(rows))
    return order + waiting


def evidence(z: Floats, candidates: Ints) -> Floats:
    """Return the log-likelihood ratios that each candidate causes each feature."""
    # Positive where "candidate -> feature" is likelier than the reverse; `z` is standardised.
    alone = entropy(z)
    features = np.arange(z.shape[1])
    given = np.zeros((z.shape[1],) * 2)  # [i, j]: of i without the influence of j
    for cause in features:
        effects = features if cause in candidates else candidates
        given[effects, cause] = _entropy_without(z, effects, int(cause))
    ratios = (alone + given - alone[:, None] - given.T)[candidates]
    ratios[np.arange(len(candidates)), candidates] = 0.0
    return ratios


def _entropy_without(z: Floats, features: Ints, cause: int) -> Floats:
    """Return the entropy of each feature once the linear influence of a cause is taken out."""
    width = max(1, _BLOCK_SIZE // len(z))
    parts = []
    for start in range(0, len(features), width):
        effects = z[:, features[start : start + width]]
        slope = z[:, cause] @ effects / len(z)
        spread = np.sqrt(np.maximum(1.0 - slope**2, 1e-12))
        effects -= z[:, [cause]] * slope
        effects /= spread
        parts.append(entropy(effects))
    return np.concatenate(parts)


def entropy(u: Floats) -> Floats:
    """Return the entropy of each standardised column (maximum-entropy approximation)."""
    size = np.abs(u)
    log_cosh = (size + np.log1p(np.exp(-2.0 * size))).mean(0) - np.log(2.0)
    odd = (u * np.exp(-0.5 * u * u)).mean(0)
    gaussian = 0.5 * (1.0 + np.log(2.0 * np.pi))
    entropies: Floats = gaussian - 79.047 * (log_cosh - 0.37457) ** 2 - 7.4129 * odd**2
    return entropies


def _causes(
    moments: Floats,
    n_rows: int,
    effect: int,
    allowed: Sequence[int],
    required: Flags,
    alpha: float,
) -> list[int]:
    """Return the causes that stay when the weakest is dropped until all are significant."""
    causes = list(allowed)
    while causes:
        inverse = np.linalg.pinv(moments[np.ix_(causes, causes)], hermitian=True)
        towards = moments[causes, effect]
        slopes = inverse @ towards
        freedom = max(1, n_rows - len(causes) - 1)
        variance = max(moments[effect, effect] - slopes @ towards, 1e-300) / freedom
        t = np.abs(slopes) / np.sqrt(np.maximum(inverse.diagonal() * variance, 1e-300))
        t[required[causes]] = np.inf
        weakest = int(t.argmin())
        if t[weakest] > stats.t.ppf(1 - alpha / 2, freedom):
            break
        causes.pop(weakest)
    return causes
