"""What a discovered graph cannot know, said in words that name the features."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from proce.arrays import Flags, Floats, Ints
from proce.causal.discovery.curves import MAX_ERROR_RATIO, curves, held_out, scaled, varying
from proce.causal.discovery.knowledge import Knowledge
from proce.causal.moments import Moments, least_squares, predicted
from proce.errors import GraphError
from proce.schema import Categorical, Feature

_EXACT_SHARE = 1e-9  # of the variation: where less is left unexplained, features say the same
_NEAR_SHARE = 0.02
_MAX_NEAR_COPIES = 2  # features that another is nearly collinear with; more are just a good fit
_MAX_NAMES = 20  # in a message
_MAX_ROWS = 5_000  # on which straight and curved fits are compared
_MIN_NOISE_EXPLAINED = 0.02  # of the size of the noise: less than this may follow from the causes


class DiscoveryWarning(UserWarning):
    """Something that the discovery of a causal graph cannot know."""


@dataclass(frozen=True)
class Findings:
    """A discovered graph and the rows that it was read off, by the positions of the features."""

    features: tuple[Feature, ...]
    rows: Floats  # (i, f), complete
    knowledge: Knowledge
    arrows: Flags  # [cause, effect]
    lines: Flags  # symmetric

    def names(self, positions: Sequence[int] | Ints) -> str:
        """Return the names of some features for a message."""
        return _listed([self.features[int(position)].name for position in positions])


def _listed(words: Sequence[str], between: str = ", ") -> str:
    """Return the first of some words, and how many more there are."""
    n_more = len(words) - _MAX_NAMES
    return between.join(words[:_MAX_NAMES]) + (f" and {n_more} more" if n_more > 0 else "")


def refuse_equal(features: Sequence[Feature], rows: Floats) -> None:
    """Raise a GraphError where features follow from each other exactly."""
    positions = varying(rows)
    for column, other_columns, share in _explained(rows[:, positions], _EXACT_SHARE):
        name = features[positions[column]].name
        others = [repr(features[position].name) for position in positions[other_columns]]
        raise GraphError(
            f"{name!r} follows exactly from {', '.join(others)} (all but"
            f" {share:.1g} of its variation), so no data can tell which causes which. Leave one of"
            " them out of the schema."
        )


def caveats(findings: Findings, algorithm: str) -> Iterator[str]:
    """Say what cannot be known from these rows by this algorithm."""
    nominal = [
        position
        for position, feature in enumerate(findings.features)
        if isinstance(feature, Categorical)
    ]
    if nominal:
        yield (
            f"Categorical features were treated as numbers, in the order of their levels:"
            f" {findings.names(nominal)}. Edges from and to them may be artefacts; name those that"
            " you know with required and forbidden."
        )
    n_rows, n_features = findings.rows.shape
    if n_rows < 10 * n_features:
        yield (
            f"There are {n_rows:,} complete rows for {n_features} features; with fewer than ten"
            " rows per feature, edges come and go by chance. Use bootstrap to see which stay."
        )
    for position, others, share in _explained(findings.rows, _NEAR_SHARE):
        if len(others) <= _MAX_NEAR_COPIES:
            yield (
                f"{findings.names([position])} is nearly collinear with {findings.names(others)}:"
                f" all but {share:.1%} of it follows from them. Which is the cause of which rests"
                " on that little."
            )
    yield from _misfits(findings, algorithm)
    if algorithm == "direct_lingam":
        yield from _gaussian(findings)
    pairs = np.argwhere(np.triu(findings.lines))
    if len(pairs):
        shown = [f"{findings.names(pair[:1])} -- {findings.names(pair[1:])}" for pair in pairs]
        yield (
            f"{algorithm} cannot tell the direction of {_listed(shown, '; ')}."
            " They are kept as undirected pairs, along which nothing is propagated; decide them"
            " with graph.decide((cause, effect))."
        )


def _explained(rows: Floats, max_share: float) -> Iterator[tuple[int, list[int], float]]:
    """Find features of which the others leave less than a share unexplained."""
    # Yield the feature, the others that explain it, and the share that they leave. Of a group of
    # features that explain each other, one is found.
    positions = list(range(rows.shape[1]))
    correlation = np.corrcoef(rows.T).reshape(len(positions), -1)
    while len(positions) > 1:
        within = correlation[np.ix_(positions, positions)]
        within = within + _EXACT_SHARE / 1000 * np.eye(len(positions))
        unexplained = 1.0 / np.linalg.inv(within).diagonal()
        best = int(unexplained.argmin())
        if unexplained[best] >= max_share:
            return
        position = positions.pop(best)
        others = _explaining(correlation, position, positions, max_share)
        yield position, others, float(unexplained[best])


def _explaining(
    correlation: Floats, position: int, others: list[int], max_share: float
) -> list[int]:
    """Return the features, added greedily, that leave less than a share of one unexplained."""
    chosen: list[int] = []
    while len(chosen) < len(others):
        candidates = [other for other in others if other not in chosen]
        unexplained = []
        for candidate in candidates:
            tried = [*chosen, candidate]
            towards = correlation[tried, position]
            slopes = np.linalg.lstsq(correlation[np.ix_(tried, tried)], towards, rcond=1e-10)[0]
            unexplained.append(1.0 - slopes @ towards)
        chosen.append(candidates[int(np.argmin(unexplained))])
        if min(unexplained) < max_share:
            break
    return chosen


def _misfits(findings: Findings, algorithm: str) -> Iterator[str]:
    """Name equations that are not linear, or whose noise depends on the causes."""
    rows = findings.rows[:: max(1, len(findings.rows) // _MAX_ROWS)]
    bent: list[str] = []
    uneven: list[int] = []
    for effect, feature in enumerate(findings.features):
        causes = np.flatnonzero(findings.arrows[:, effect])
        if not len(causes) or isinstance(feature, Categorical):
            continue
        fit = _fit(findings, rows, effect, causes)
        if fit.is_bent:
            bent.append(f"{feature.name} ({1 - fit.by_curve:.0%} against {1 - fit.by_line:.0%})")
        elif fit.is_uneven:
            uneven.append(effect)
    for one, other in np.argwhere(np.triu(findings.lines)):
        both = [_fit(findings, rows, a, np.array([b])) for a, b in ((one, other), (other, one))]
        if all(fit.is_bent for fit in both):  # one way alone may be the way back of a line
            bent.append(f"{findings.names([one])} -- {findings.names([other])}")
    if bent:
        yield (
            "A curved fit on the causes explains clearly more on held-out rows than a linear one:"
            f" {_listed(bent)}. The algorithm assumes straight lines, so"
            " edges and directions at these features are doubtful."
        )
    if uneven and algorithm == "direct_lingam":
        yield (
            f"The noise of {findings.names(uneven)} is larger at some values of the causes than at"
            " others. DirectLiNGAM assumes noise that does not depend on them, so edges and"
            " directions at these features are doubtful."
        )


@dataclass(frozen=True)
class _Fit:
    """Errors of fits on held-out rows, as shares of the variance of what they predict."""

    by_line: float
    by_curve: float
    noise_by_curve: float  # of a curved fit of the absolute noise of the linear one

    @property
    def is_bent(self) -> bool:
        return self.by_curve < MAX_ERROR_RATIO * self.by_line

    @property
    def is_uneven(self) -> bool:
        return self.noise_by_curve < 1 - _MIN_NOISE_EXPLAINED


def _fit(findings: Findings, rows: Floats, effect: int, causes: Ints) -> _Fit:
    straight, numbers = _terms(findings, rows, causes)
    curved, values = np.hstack([straight, *curves(numbers)]), scaled(rows[:, effect])
    return _Fit(
        held_out(straight, values),
        held_out(curved, values),
        held_out(curved, scaled(np.abs(_noise(straight, values)))),
    )


def _noise(straight: Floats, values: Floats) -> Floats:
    """Return what a straight fit on the terms of its causes leaves of an effect, ``(n,)``."""
    line = least_squares(Moments.of(straight, values, np.ones(len(values))))
    noise: Floats = values - predicted(line, straight)
    return noise


def _terms(findings: Findings, rows: Floats, causes: Ints) -> tuple[Floats, Floats]:
    """Return the terms of a straight fit, one for each level but the first, and its numbers."""
    nominal = [cause for cause in causes if isinstance(findings.features[cause], Categorical)]
    levels = [rows[:, [cause]] == np.unique(rows[:, cause])[1:] for cause in nominal]
    numbers = scaled(rows[:, [cause for cause in causes if cause not in nominal]])
    return np.hstack([*levels, numbers]), numbers


def _gaussian(findings: Findings) -> Iterator[str]:
    """Name features of Gaussian noise that an edge joins whose direction was not known before."""
    n_features = len(findings.features)
    normal = np.array([_looks_gaussian(findings, position) for position in range(n_features)])
    open_edges = findings.arrows & ~findings.knowledge.before & ~findings.knowledge.impossible.T
    guessed = open_edges & normal[:, None] & normal[None, :]
    doubtful = np.flatnonzero(guessed.any(0) | guessed.any(1))
    if len(doubtful):
        yield (
            f"The noise of {findings.names(doubtful)} looks Gaussian. DirectLiNGAM tells cause from"
            " effect by noise that is not, so the direction of the edges among these features is"
            " not identifiable and was guessed. Say what you know with tiers, required and"
            " forbidden."
        )


def _looks_gaussian(findings: Findings, position: int) -> bool:
    """Whether the part of a feature that its causes do not explain could be Gaussian."""
    causes = np.flatnonzero(findings.arrows[:, position])
    straight, _ = _terms(findings, findings.rows, causes)
    noise = _noise(straight, scaled(findings.rows[:, position]))
    skew, excess = float(stats.skew(noise)), float(stats.kurtosis(noise))
    if abs(skew) < 0.1 and abs(excess) < 0.2:
        return True
    return len(noise) < 20 or float(stats.normaltest(noise).pvalue) > 0.01
