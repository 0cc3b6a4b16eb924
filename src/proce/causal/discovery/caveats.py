"""What a discovered graph cannot know, said in words that name the features."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from proce.causal.discovery.knowledge import Flags, Knowledge
from proce.errors import GraphError
from proce.schema import Categorical, Feature

Numbers = NDArray[np.float64]
_SAME = 1e-9  # of the variation: less than this is left, so the features say the same
_NEARLY_SAME = 0.02
_MOST_ALIKE = 2  # features that another is nearly collinear with; more are just a good fit
_MOST_NAMES = 20
_FOLDS = 5
_MOST_ROWS = 5_000  # of those on which straight and curved fits are compared
_MOST_PRODUCTS = 8  # causes whose products enter a curved fit
_STEADY = 0.02  # of the size of the noise: less than this may follow from the causes
_CLEARLY = 0.95  # a curved fit is clearly better where it leaves less than this of the error


class DiscoveryWarning(UserWarning):
    """Something that the discovery of a causal graph cannot know."""


@dataclass(frozen=True)
class Findings:
    """A discovered graph and the rows it was read off, by position."""

    features: tuple[Feature, ...]
    rows: Numbers  # (i, f), complete
    knowledge: Knowledge
    arrows: Flags  # [cause, effect]
    lines: Flags  # symmetric

    def names(self, positions: Sequence[int] | NDArray[np.int64]) -> str:
        """Return some features in a message."""
        shown = [self.features[int(each)].name for each in positions[:_MOST_NAMES]]
        rest = len(positions) - len(shown)
        return ", ".join(shown) + (f" and {rest} more" if rest else "")


def refuse_equal(features: Sequence[Feature], rows: Numbers) -> None:
    """Raise a GraphError where features follow from each other exactly."""
    varying = np.flatnonzero(rows.max(0) > rows.min(0))
    for at, among, left in _explained(rows[:, varying], _SAME):
        position, others = varying[at], varying[among]
        names = [repr(features[each].name) for each in others]
        raise GraphError(
            f"{features[position].name!r} follows exactly from {', '.join(names)} (all but"
            f" {left:.1g} of its variation), so no data can tell which causes which. Leave one of"
            " them out of the schema."
        )


def caveats(found: Findings, algorithm: str) -> Iterator[str]:
    """Say what cannot be known from these rows by this algorithm."""
    yield from _categorical(found)
    yield from _few_rows(found)
    yield from _nearly_equal(found)
    yield from _misfits(found, algorithm)
    if algorithm == "direct_lingam":
        yield from _gaussian(found)
    yield from _undirected(found, algorithm)


def _categorical(found: Findings) -> Iterator[str]:
    nominal = [at for at, each in enumerate(found.features) if isinstance(each, Categorical)]
    if nominal:
        yield (
            f"Categorical features were treated as numbers, in the order of their levels:"
            f" {found.names(nominal)}. Edges from and to them may be artefacts; name those that"
            " you know with required and forbidden."
        )


def _few_rows(found: Findings) -> Iterator[str]:
    n_rows, n_features = found.rows.shape
    if n_rows < 10 * n_features:
        yield (
            f"There are {n_rows:,} complete rows for {n_features} features; with fewer than ten"
            " rows per feature, edges come and go by chance. Use bootstrap to see which stay."
        )


def _nearly_equal(found: Findings) -> Iterator[str]:
    for position, others, left in _explained(found.rows, _NEARLY_SAME):
        if len(others) <= _MOST_ALIKE:
            yield (
                f"{found.features[position].name} is nearly collinear with {found.names(others)}:"
                f" all but {left:.1%} of it follows from them. Which is the cause of which rests on"
                " that little."
            )


def _explained(rows: Numbers, left: float) -> Iterator[tuple[int, list[int], float]]:
    """Find features of which the others leave less than some share, and which others do that.

    Of a group that explains each other, one is found.
    """
    names = list(range(rows.shape[1]))
    correlation = np.corrcoef(rows.T).reshape(len(names), -1)
    while len(names) > 1:
        within = correlation[np.ix_(names, names)] + _SAME / 1000 * np.eye(len(names))
        unexplained = 1.0 / np.linalg.inv(within).diagonal()
        worst = int(unexplained.argmin())
        if unexplained[worst] >= left:
            return
        position = names.pop(worst)
        yield position, _explaining(correlation, position, names, left), float(unexplained[worst])


def _explaining(correlation: Numbers, position: int, others: list[int], left: float) -> list[int]:
    """Return the fewest features, taken greedily, that leave less than some share of one."""
    chosen: list[int] = []
    while len(chosen) < len(others):
        rest = [each for each in others if each not in chosen]
        unexplained = []
        for each in rest:
            tried = [*chosen, each]
            towards = correlation[tried, position]
            slopes = np.linalg.lstsq(correlation[np.ix_(tried, tried)], towards, rcond=1e-10)[0]
            unexplained.append(1.0 - slopes @ towards)
        chosen.append(rest[int(np.argmin(unexplained))])
        if min(unexplained) < left:
            break
    return chosen


def _misfits(found: Findings, algorithm: str) -> Iterator[str]:
    """Equations that are not linear, or whose noise depends on the causes."""
    rows = found.rows[:: max(1, len(found.rows) // _MOST_ROWS)]
    bent: list[str] = []
    uneven: list[int] = []
    for effect, feature in enumerate(found.features):
        causes = np.flatnonzero(found.arrows[:, effect])
        if not len(causes) or isinstance(feature, Categorical):
            continue
        fit = _fit(found, rows, effect, causes)
        if fit.is_bent:
            bent.append(f"{feature.name} ({1 - fit.by_curve:.0%} against {1 - fit.by_line:.0%})")
        elif fit.is_uneven:
            uneven.append(effect)
    for one, other in np.argwhere(np.triu(found.lines)):
        both = [_fit(found, rows, a, np.array([b])) for a, b in ((one, other), (other, one))]
        if all(fit.is_bent for fit in both):  # one way alone may be the way back of a line
            bent.append(f"{found.names([one])} -- {found.names([other])}")
    if bent:
        rest = f" and {len(bent) - _MOST_NAMES} more" if len(bent) > _MOST_NAMES else ""
        yield (
            "A curved fit on the causes explains clearly more on held-out rows than a linear one:"
            f" {', '.join(bent[:_MOST_NAMES])}{rest}. The algorithm assumes straight lines, so"
            " edges and directions at these features are doubtful."
        )
    if uneven and algorithm == "direct_lingam":
        yield (
            f"The noise of {found.names(uneven)} is larger at some values of the causes than at"
            " others. DirectLiNGAM assumes noise that does not depend on them, so edges and"
            " directions at these features are doubtful."
        )


@dataclass(frozen=True)
class _Fit:
    """Errors on held-out rows, as shares of what there is to explain."""

    by_line: float
    by_curve: float
    size_by_curve: float  # of the absolute noise of the linear fit

    @property
    def is_bent(self) -> bool:
        return self.by_curve < _CLEARLY * self.by_line

    @property
    def is_uneven(self) -> bool:
        return self.size_by_curve < 1 - _STEADY


def _fit(found: Findings, rows: Numbers, effect: int, causes: NDArray[np.int64]) -> _Fit:
    straight, curved = _terms(found, rows, causes)
    values = _scaled(rows[:, effect])
    noise = values - straight @ np.linalg.lstsq(straight, values, rcond=None)[0]
    return _Fit(
        _held_out(straight, values),
        _held_out(curved, values),
        _held_out(curved, _scaled(np.abs(noise))),
    )


def _terms(found: Findings, rows: Numbers, causes: NDArray[np.int64]) -> tuple[Numbers, Numbers]:
    """Return the terms of a straight and of a curved fit; levels have a term each in both."""
    nominal = [each for each in causes if isinstance(found.features[each], Categorical)]
    levels = [rows[:, [each]] == np.unique(rows[:, each])[1:] for each in nominal]
    numbers = _scaled(rows[:, [each for each in causes if each not in nominal]])
    bends = [np.maximum(0.0, numbers - q) for q in np.quantile(numbers, [0.33, 0.67], axis=0)]
    mixed = numbers[:, :_MOST_PRODUCTS]
    products = [mixed[:, [at]] * mixed[:, at:] for at in range(mixed.shape[1])]
    straight = np.hstack([np.ones((len(rows), 1)), *levels, numbers])
    return straight, np.hstack([straight, *bends, *products])


def _scaled(values: Numbers) -> Numbers:
    scaled: Numbers = (values - values.mean(0)) / np.maximum(values.std(0), 1e-12)
    return scaled


def _held_out(terms: Numbers, values: Numbers) -> float:
    """Return the mean squared error on folds that the fit has not seen."""
    folds = [(terms[at::_FOLDS], values[at::_FOLDS]) for at in range(_FOLDS)]
    squares = [some.T @ some for some, _ in folds]
    products = [some.T @ seen for some, seen in folds]
    ridge = 1e-6 * len(values) * np.eye(terms.shape[1])
    total = 0.0
    for (some, unseen), square, product in zip(folds, squares, products, strict=True):
        slopes = np.linalg.solve(sum(squares) - square + ridge, sum(products) - product)
        total += float(((unseen - some @ slopes) ** 2).sum())
    return total / len(values)


def _gaussian(found: Findings) -> Iterator[str]:
    """Edges between two features of Gaussian noise, whose direction was not known before."""
    normal = np.array([_looks_gaussian(found, each) for each in range(len(found.features))])
    open_edges = found.arrows & ~found.knowledge.before & ~found.knowledge.impossible.T
    guessed = open_edges & normal[:, None] & normal[None, :]
    doubtful = np.flatnonzero(guessed.any(0) | guessed.any(1))
    if len(doubtful):
        yield (
            f"The noise of {found.names(doubtful)} looks Gaussian. DirectLiNGAM tells cause from"
            " effect by noise that is not, so the direction of the edges among these features is"
            " not identifiable and was guessed. Say what you know with tiers, required and"
            " forbidden."
        )


def _looks_gaussian(found: Findings, position: int) -> bool:
    """Whether what its causes leave of a feature cannot be told from a Gaussian."""
    causes = np.flatnonzero(found.arrows[:, position])
    values = found.rows[:, position] - found.rows[:, position].mean()
    terms = found.rows[:, causes] - found.rows[:, causes].mean(0)
    noise = values - terms @ np.linalg.lstsq(terms, values, rcond=None)[0]
    skew, excess = float(stats.skew(noise)), float(stats.kurtosis(noise))
    if abs(skew) < 0.1 and abs(excess) < 0.2:
        return True
    return len(noise) < 20 or float(stats.normaltest(noise).pvalue) > 0.01


def _undirected(found: Findings, algorithm: str) -> Iterator[str]:
    pairs = np.argwhere(np.triu(found.lines))
    if len(pairs):
        shown = [f"{found.names(pair[:1])} -- {found.names(pair[1:])}" for pair in pairs]
        rest = f" and {len(shown) - _MOST_NAMES} more" if len(shown) > _MOST_NAMES else ""
        yield (
            f"{algorithm} cannot tell the direction of {'; '.join(shown[:_MOST_NAMES])}{rest}."
            " They are kept as undirected pairs, along which nothing is propagated; decide them"
            " with graph.decide((cause, effect))."
        )
