"""Levels: multinomial logistic regression, and with an order probit regression with thresholds.

R. McKelvey, W. Zavoina, "A statistical model for the analysis of ordinal level dependent
variables" (1975).
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from proce.arrays import Array
from proce.causal.equations.learning import EffectRows, Family, Fit
from proce.causal.equations.mechanism import Choice, Ordered
from proce.causal.equations.regression import Form, Polynomial
from proce.causal.equations.terms import Terms, columns_of
from proce.causal.programs.links import shares_between, write_ends
from proce.compiled.elementary import exponentials, logarithms, quantiles
from proce.schema import Categorical, Ordinal

_LOWEST_LOGIT = -50.0  # a logit so low that its level is never chosen
_RIDGE = 0.01  # as the logistic regression of levels without an order has it
_MIN_CHANCE = 1e-300  # of a level that a step leaves none
Parameters = tuple[Array, Array]  # slopes, thresholds
_MAX_STEPS = 50
_MAX_HALVINGS = 30
_MAX_LEFT = 1e-4  # of the log-likelihood: about the square of what the last step gained, per row
_UNSEEN_WIDTH = 1e-3  # between the thresholds of a level that does not occur
_UNSEEN_DISTANCE = 8.0  # of such a level before the first or after the last one, in noise


def fit_logistic(
    terms: Terms,
    columns: Array,  # (d, m)
    codes: Array,  # (d,)
    n_levels: int,  # seen or not
    counts: Array,  # how often each row occurs, (d,)
) -> Choice:
    """Fit the logits of levels; one that never occurs has one so low that it is never chosen."""
    from sklearn.linear_model import LogisticRegression

    seen = counts > 0
    rows, labels = columns[seen].astype(np.float64), codes[seen]
    model = LogisticRegression(C=100.0, max_iter=1000)
    model.fit(rows, labels, sample_weight=counts[seen])
    slopes, constants = model.coef_, model.intercept_
    if len(model.classes_) == 2:  # scikit-learn keeps one row of weights for two levels
        slopes = np.concatenate([np.zeros_like(slopes), slopes])
        constants = np.concatenate([np.zeros_like(constants), constants])
    weights = np.zeros((terms.size, n_levels), dtype=np.float64)
    weights[0] = _LOWEST_LOGIT
    known = model.classes_.astype(np.int64)
    weights[0, known] = constants
    weights[1:, known] = slopes.T
    return Choice(Polynomial(terms, weights), n_levels, units="unit")


def _logistic(kind: str, effect: EffectRows, seed: int) -> Fit:
    assert isinstance(effect.feature, Categorical), "levels without an order"
    columns, n_levels = columns_of(effect.terms, effect.parents), len(effect.feature.levels)
    return partial(fit_logistic, effect.terms, columns, effect.target, n_levels)


LOGISTIC = Family(
    words=lambda kind: "a logistic regression" if kind == "logistic" else None, fit=_logistic
)


@dataclass(frozen=True, eq=False)
class OrderedRows:
    """The distinct rows of an effect with ordered levels."""

    columns: Array  # of the terms, (d, m)
    ranks: Array  # (d,)
    counts: Array  # how often each of the rows occurs, (d,)
    n_levels: int  # seen or not

    @cached_property
    def best(self) -> Parameters:
        """The slopes ``(m,)`` and the thresholds between the levels that occur."""
        return self.maximise(None)

    def maximise(self, start: Parameters | None) -> Parameters:
        """Return the slopes and thresholds of the greatest likelihood, found from a start on."""
        # The log-likelihood is concave, so Newton's method with halved steps finds its only maximum
        # from any start; one of other levels is not taken.
        seen = self.counts > 0
        columns, counts = self.columns[seen].astype(np.float64), self.counts[seen]
        levels, codes = np.unique(self.ranks[seen], return_inverse=True)
        if start is None or len(start[1]) + 1 != len(levels):
            start = _start(columns, codes, counts)
        return _maximise(columns, codes, counts, start)

    def thresholds(self, found: Parameters) -> Array:
        """Return the thresholds of all levels, seen or not."""
        seen = self.counts > 0
        score = self.columns[seen].astype(np.float64) @ found[0]
        levels = np.unique(self.ranks[seen].astype(np.int64)).tolist()
        return _with_unseen(found[1], levels, self.n_levels, float(score.min()), float(score.max()))


def fit_ordered(terms: Terms, rows: OrderedRows, counts: Array) -> Ordered:
    """Fit a latent number and its thresholds on rows that occur ``counts`` times."""
    # A level that never occurs keeps thresholds between which it is next to never chosen.
    drawn = replace(rows, counts=counts)
    found = drawn.maximise(rows.best)
    weights = np.concatenate([np.zeros(1, dtype=found[0].dtype), found[0]])
    return Ordered(Polynomial(terms, weights), drawn.thresholds(found), units="unit")


def _start(columns: Array, codes: Array, counts: Array) -> Parameters:
    """Return no slopes, and thresholds by the shares of the levels that occur."""
    shares = np.bincount(codes, weights=counts) / counts.sum()
    return np.zeros(columns.shape[1], dtype=columns.dtype), quantiles(shares.cumsum(0)[:-1])


def _maximise(columns: Array, codes: Array, counts: Array, start: Parameters) -> Parameters:
    n_slopes, n_ends = columns.shape[1], len(start[1])
    if n_ends == 0:
        return start
    now = _Point.at(columns, codes, counts, *start)
    levels = np.eye(n_ends + 1)[codes] * counts[:, None]
    for _ in range(_MAX_STEPS):
        gradient, curvature = now.derivatives(columns, levels, counts)
        step = np.linalg.solve(curvature, gradient)
        new = now
        for halving in range(_MAX_HALVINGS):
            by = np.split(step * 0.5**halving, [n_slopes])
            new = _Point.at(columns, codes, counts, now.slopes + by[0], now.ends + by[1])
            if new.objective > now.objective:
                break
        if new.objective <= now.objective:
            break
        now = new
        if (float(gradient @ step) / 2) ** 2 < _MAX_LEFT * float(counts.sum()):
            break
    return now.slopes, now.ends


@dataclass(frozen=True, eq=False)
class _Point:
    """Slopes and thresholds, and what the rows say of them."""

    # `low` and `high` are the ends of each row's level, as noise.

    slopes: Array
    ends: Array
    low: Array
    high: Array
    chance: Array
    objective: float

    @classmethod
    def at(
        cls, columns: Array, codes: Array, counts: Array, slopes: Array, ends: Array
    ) -> "_Point":
        low, high = noise = np.empty((2, len(codes)))
        write_ends(ends, codes, columns @ slopes, noise)
        chance = np.maximum(shares_between(low, high), _MIN_CHANCE)
        objective = float(counts @ logarithms(chance) - _RIDGE / 2 * np.square(slopes).sum())
        if bool((np.diff(ends) <= 0).any()):
            objective = -np.inf
        return cls(slopes, ends, low, high, chance, objective)

    def derivatives(self, columns: Array, levels: Array, counts: Array) -> tuple[Array, Array]:
        """Return the gradient and minus the second derivatives, of slopes, then thresholds."""
        # `levels` `(d, l)` have the count of each row in the column of its level, else 0.
        by_high = _density(self.high) / self.chance
        by_low = -_density(self.low) / self.chance
        high_high = self.high * by_high + np.square(by_high)
        low_low = self.low * by_low + np.square(by_low)
        low_high = by_low * by_high
        terms = np.stack([by_high, by_low, high_high, low_low, low_high], axis=1)
        of_level = levels.T @ terms  # (l, 5)
        gradient = np.concatenate(
            [
                -columns.T @ (counts * (by_high + by_low)) - _RIDGE * self.slopes,
                of_level[:-1, 0] + of_level[1:, 1],
            ]
        )
        bent = counts * (high_high + low_low + 2 * low_high)
        of_slopes = columns.T @ (columns * bent[:, None])
        of_slopes[np.diag_indices_from(of_slopes)] += _RIDGE
        by_upper = levels.T @ (columns * (high_high + low_high)[:, None])  # (l, m)
        by_lower = levels.T @ (columns * (low_low + low_high)[:, None])
        mixed = -(by_upper[:-1] + by_lower[1:])
        of_ends = np.diag(of_level[:-1, 2] + of_level[1:, 3])
        neighbours = of_level[1:-1, 4]
        of_ends += np.diag(neighbours, 1) + np.diag(neighbours, -1)
        top, bottom = (
            np.concatenate([of_slopes, mixed.T], axis=1),
            np.concatenate([mixed, of_ends], axis=1),
        )
        return gradient, np.concatenate([top, bottom])


def _density(values: Array) -> Array:
    """Return the standard normal density."""
    return exponentials(-np.square(values) / 2) / math.sqrt(2 * math.pi)


def _with_unseen(
    ends: Array, seen: list[int], n_levels: int, lowest: float, highest: float
) -> Array:
    """Return the thresholds of all levels, from those between the levels that were seen."""
    thresholds = []
    known = ends.tolist()
    first = known[0] if known else lowest
    last = known[-1] if known else highest
    before = min(lowest, first) - _UNSEEN_DISTANCE
    thresholds += [before - (seen[0] - 1 - level) for level in range(seen[0])]
    for position, end in enumerate(known):
        n_unseen = seen[position + 1] - seen[position] - 1
        room = known[position + 1] - end if position + 1 < len(known) else np.inf
        width = min(_UNSEEN_WIDTH, room / (n_unseen + 2))
        thresholds += [end + width * place for place in range(n_unseen + 1)]
    after = max(highest, last) + _UNSEEN_DISTANCE
    thresholds += [after + place for place in range(n_levels - 1 - seen[-1])]
    return np.array(thresholds, dtype=np.float64)


def _words_of_ordered(kind: str) -> str | None:
    plain = kind.removeprefix("ordered-")
    return None if plain == kind else Form.of(kind).words


def _ordered(kind: str, effect: EffectRows, seed: int) -> Fit:
    assert isinstance(effect.feature, Ordinal), "ordered levels"
    terms = Form.of(kind).terms(effect)
    columns = columns_of(terms, effect.parents)
    rows = OrderedRows(columns, effect.target, effect.counts, len(effect.feature.levels))
    return partial(fit_ordered, terms, rows)


ORDERED = Family(words=_words_of_ordered, fit=_ordered)
