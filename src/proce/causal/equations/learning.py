"""How the equation of one effect is learned: from which rows, held out in folds, by a family."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from proce.arrays import Array, Floats, Ints, missing_cells
from proce.causal.equations.mechanism import Additive, Choice, Mechanism, Ordered, Ranked
from proce.causal.equations.terms import MIN_AMOUNT, Equation, Learned, Parents, Terms, columns_of
from proce.causal.graph import CausalGraph
from proce.compiled.copies import groups_of
from proce.compiled.elementary import softmaxes
from proce.errors import GraphError
from proce.schema import Categorical, Codec, Continuous, Feature, Ordinal
from proce.schema.codec import outlier_bounds

_N_FOLDS = 5
_MIN_POSITIVE_SHARE = 0.5  # of the rows: a number that is zero more often is not an amount


@dataclass(frozen=True, eq=False)
class EffectRows:
    """An effect and its causes, in the rows where none of them is missing."""

    # Rows that are alike are held once, with their count: levels, years and hours make many such
    # rows, and an equation learns the same from them.

    feature: Feature  # the effect and its parents
    causes: tuple[Feature, ...]
    parents: dict[str, Array]  # their values in the distinct rows (d,), numbers on the unit range
    target: Array
    # (i,), for each training row the distinct row that it is like; -1 where it is left out
    places: Array
    origin: float  # where the effect is 0 in raw units, on the unit range
    zeros: dict[str, float]  # the same of the numbers among the causes, by name
    terms: Terms  # the straight terms, with the ends beyond which no curve was learned

    @classmethod
    def of(cls, name: str, graph: CausalGraph, rows: Array, codec: Codec) -> "EffectRows":
        """Return what there is to learn of an effect from training rows ``(i, f)``."""
        # Rows with an outlier in the effect or a cause are left out, or a few of them would bend
        # the equation.
        feature = codec.schema[name]
        causes = tuple(codec.schema[cause] for cause in graph.parents(name))
        positions = [codec.schema.position(used.name) for used in (feature, *causes)]
        own = rows[:, positions]  # the other columns of a wide table would only be looked through
        low, high = outlier_bounds(codec)[:, positions]
        missing = missing_cells(own, codec.is_number[positions])
        present = ~(missing | (own < low) | (own > high)).any(-1)
        distinct, alike = _distinct(own[present].astype(np.float64))
        target, *parents = np.moveaxis(distinct, -1, 0)
        places = np.full((len(rows),), -1)
        places[present] = alike
        origin, *zeros = codec.grid[0][positions].tolist()
        named = zip(causes, zeros, strict=True)
        return cls(
            feature=feature,
            causes=causes,
            parents={cause.name: values for cause, values in zip(causes, parents, strict=True)},
            target=target,
            places=places,
            origin=origin,
            zeros={cause.name: zero for cause, zero in named if isinstance(cause, Continuous)},
            terms=Terms(causes, ends=_ends(causes, codec)),
        )

    @cached_property
    def counts(self) -> Array:
        """How many rows are like each distinct row, ``(d,)``."""
        return self.counts_of(np.ones(len(self.places), dtype=np.float64))

    def counts_of(self, times: Array) -> Array:
        """Return how often the distinct rows occur ``(d,)``, from how often each row does."""
        used = self.places >= 0
        return np.bincount(
            self.places[used], weights=times[used].astype(np.float64), minlength=len(self.target)
        )

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int((self.places >= 0).sum())

    @property
    def is_amount(self) -> bool:
        """Whether the effect is above zero in most rows and never below."""
        if not isinstance(self.feature, Continuous):
            return False
        n_positive = float(self.counts[self.target > self.origin + MIN_AMOUNT].sum())
        never_below = bool((self.target >= self.origin - MIN_AMOUNT).all())
        return never_below and n_positive > _MIN_POSITIVE_SHARE * self.n_rows

    @property
    def comparable(self) -> Array:
        """Flags ``(d,)`` of the rows on which all forms have a likelihood."""
        # An amount of zero has none under multiplicative noise. Elsewhere zero is a value like any
        # other.
        if self.is_amount:
            return self.target > self.origin + MIN_AMOUNT
        return np.ones_like(self.target, dtype=np.bool_)

    @property
    def notes(self) -> tuple[str, ...]:
        """A note where parents are combinations of each other."""
        columns = columns_of(Terms(self.causes), self.parents)
        n_categorical = sum(isinstance(cause, Categorical) for cause in self.causes)
        centred = columns - columns.mean(0)
        expected = columns.shape[1] - n_categorical  # levels of a feature always add up to one
        rank = int(np.linalg.matrix_rank(centred, rtol=1e-9)) if len(columns) else 0
        if rank >= expected:
            return ()
        names = ", ".join(cause.name for cause in self.causes)
        return (
            f"the parents {names} are collinear: what each does by itself cannot be told apart",
        )

    def refuse_too_few(self) -> None:
        """Raise a GraphError where there are fewer rows than weights."""
        size = Terms(self.causes).size
        if self.n_rows <= size:
            names = ", ".join(cause.name for cause in self.causes)
            raise GraphError(
                f"{self.n_rows} complete rows are too few for the {size} weights of the"
                f" equation of {self.feature.name!r} ({names}); give more rows, or remove edges"
                " into it."
            )

    def refuse_constant(self) -> None:
        """Raise a GraphError where the effect never changes."""
        if len(self.target) and not bool((self.target != self.target[0]).any()):
            raise GraphError(
                f"{self.feature.name!r} has the same value in all {self.n_rows} complete"
                " rows, so its equation cannot be learned; give other rows, or remove the edges"
                " into it."
            )


@dataclass(frozen=True, eq=False)
class Folds:
    """Rows that are held out together, told by the distinct rows that they are like."""

    counts: Array  # (k, d), how many rows of each fold are like each distinct row

    @classmethod
    def of(cls, effect: EffectRows, seed: int) -> "Folds":
        """Put the rows of an effect into folds by chance."""
        generator = np.random.default_rng(seed)
        fold_of = generator.permutation(effect.n_rows) % _N_FOLDS
        shape = min(_N_FOLDS, effect.n_rows), len(effect.target)
        places = fold_of * shape[1] + effect.places[effect.places >= 0]
        return cls(
            np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)
        )

    @cached_property
    def unseen(self) -> list[Array]:
        """The positions of the distinct rows in each fold."""
        return [np.flatnonzero(counts) for counts in self.counts]

    @cached_property
    def positions(self) -> Array:
        """The distinct rows of the first fold, then of the second, and so on, ``(u,)``."""
        return np.concatenate(self.unseen)

    @cached_property
    def weights(self) -> Array:
        """How many rows of its fold each of the :attr:`positions` stands for, ``(u,)``."""
        parts = zip(self.counts, self.unseen, strict=True)
        return np.concatenate([counts[unseen] for counts, unseen in parts])


def _distinct(rows: Floats) -> tuple[Floats, Ints]:
    """Return the distinct ones of rows ``(i, f)``, and which of them each row is, ``(i,)``."""
    # Distinct rows are sorted, so that an equation does not depend on the order of the rows.
    firsts, group = groups_of(rows)
    distinct = rows[firsts]
    order = np.lexsort(distinct.T[::-1])
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return distinct[order], place[group]


def _ends(causes: tuple[Feature, ...], codec: Codec) -> tuple[tuple[str, float, float], ...]:
    """Return the values of causes with outliers beyond which no curve was learned."""
    ends = outlier_bounds(codec).T.tolist()
    named = [(cause.name, *ends[codec.schema.position(cause.name)]) for cause in causes]
    return tuple((name, low, high) for name, low, high in named if high - low < math.inf)


Fit = Callable[[Array], Mechanism]  # from how often each distinct row occurs, (d,)


@dataclass(frozen=True)
class Family:
    """Equations that are learned in one way; `families.py` lists all families."""

    words: Callable[[str], str | None]  # a kind in words; None of the kinds of other families
    fit: Callable[[str, EffectRows, int], Fit]  # of a kind, an effect and a seed
    equations: tuple[type[Learned], ...] = ()  # what is fitted, as it is saved by its `form`
    # What is predicted of the rows of each fold, where that is known without a fit for each.
    held_out: Callable[[str, EffectRows, Folds, int], Array] | None = None

    def predict_unseen(self, kind: str, effect: EffectRows, folds: Folds, seed: int) -> Array:
        """Return what a kind predicts of the rows of each fold, fitted on the others."""
        # A number or rank `(u,)`, or chances `(u, l)` of levels that are fitted as such.
        if self.held_out is not None:
            return self.held_out(kind, effect, folds, seed)
        return held_out(self.fit(kind, effect, seed), effect, folds)


def held_out(fit: Fit, effect: EffectRows, folds: Folds) -> Array:
    """Return what mechanisms predict of the rows of each fold, fitted on the others, ``(u, …)``."""
    parts = []
    for counts, unseen in zip(folds.counts, folds.unseen, strict=True):
        mechanism = fit(effect.counts - counts)
        parents = {name: values[unseen] for name, values in effect.parents.items()}
        parts.append(_predicted(mechanism, parents))
    return np.concatenate(parts)


def with_added_noise(feature: Feature, equation: Equation) -> Mechanism:
    """Return an equation of a number, or of a rank, with what it leaves over as its noise."""
    if isinstance(feature, Ordinal):
        return Ranked(equation, len(feature.levels), units="unit")
    return Additive(equation, units="unit")


def _predicted(mechanism: Mechanism, parents: Parents) -> Array:
    """Return the chances ``(u, l)`` of levels that have some, else a number or rank ``(u,)``."""
    if isinstance(mechanism, Choice):
        return softmaxes(mechanism.predict(parents))
    if isinstance(mechanism, Ordered):
        return mechanism.chances(parents)
    return mechanism.predict(parents)
