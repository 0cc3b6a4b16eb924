"""Paired tests over (repetition, factual row), and the critical difference of mean ranks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from proce.arrays import Floats


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two methods on the same rows."""

    n: int  # how many rows have a value for both methods
    difference: float  # the mean of the first method's values minus the second's
    # t_p, wilcoxon_p: two-sided p-values of the paired t-test and of Wilcoxon's signed-rank test;
    # None where all differences are the same, so that no test applies
    t_p: float | None
    wilcoxon_p: float | None
    # cohen's d of the differences: their mean over their standard deviation; None where all
    # differences are the same
    effect: float | None


def compare(first: Floats, second: Floats) -> Comparison:
    """Compare paired values ``(n,)``; a pair with NaN in either does not count."""
    known = ~(np.isnan(first) | np.isnan(second))
    differences = (first - second)[known]
    n = len(differences)
    if n == 0:
        return Comparison(0, float("nan"), None, None, None)
    mean = float(differences.mean())
    if n < 2 or np.ptp(differences) == 0:
        return Comparison(n, mean, None, None, None)
    return Comparison(
        n,
        mean,
        float(stats.ttest_1samp(differences, 0.0).pvalue),
        float(stats.wilcoxon(differences, method="asymptotic").pvalue),
        mean / float(differences.std(ddof=1)),
    )


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p-values corrected for how many they are (Holm 1979); ``None`` stays ``None``.

    The smallest of m is multiplied by m, the next by m - 1, and so on; no corrected value is
    smaller than the one before it.
    """
    tested = sorted((p, position) for position, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, position) in enumerate(tested):
        largest = max(largest, min(1.0, p * (len(tested) - rank)))
        corrected[position] = largest
    return corrected


def critical_difference(n_methods: int, n_cells: int, alpha: float = 0.05) -> float:
    """Return by how much mean ranks must differ to be significant (Nemenyi; Demsar 2006)."""
    quantile = stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_cells)))
