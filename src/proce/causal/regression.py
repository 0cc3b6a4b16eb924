"""Equations learned from rows: linear, quadratic with interactions, and boosted trees.

Parents arrive by name: numbers on the unit range, levels as codes. A categorical parent
enters as one column per level, an ordinal one by its rank on the unit range.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from proce.causal.mechanism import Parents
from proce.schema import Categorical, Feature, Ordinal

_RIDGE = 1e-8  # of the number of rows: keeps collinear parents solvable, moves nothing else


@dataclass(frozen=True)
class Terms:
    """The columns of a regression on some parents: a constant, then one column per term.

    Parameters
    ----------
    parents
        The features, in the order of the columns.
    degree
        2 adds squares of numbers and products of all pairs of columns, but for pairs of
        levels of one feature, which never occur together.
    """

    parents: tuple[Feature, ...]
    degree: int = 1

    @property
    def size(self) -> int:
        """How many columns there are, the constant included."""
        return 1 + len(self._names) + len(self._products)

    def __call__(self, parents: Parents) -> list[Tensor]:
        """Return the columns, each of the parents' own shape, without the constant."""
        columns: list[Tensor] = []
        for feature in self.parents:
            values = parents[feature.name]
            if isinstance(feature, Categorical):
                columns += [(values == k).to(values.dtype) for k in range(len(feature.levels))]
            elif isinstance(feature, Ordinal):
                columns.append(values / max(1, len(feature.levels) - 1))
            else:
                columns.append(values)
        return columns + [columns[a] * columns[b] for a, b in self._products]

    @property
    def _names(self) -> list[tuple[str, bool]]:
        """The feature of each plain column, and whether the column is a level of it."""
        names: list[tuple[str, bool]] = []
        for feature in self.parents:
            hot = isinstance(feature, Categorical)
            names += [(feature.name, hot)] * (len(feature.levels) if hot else 1)  # type: ignore[union-attr]
        return names

    @property
    def _products(self) -> list[tuple[int, int]]:
        if self.degree == 1:
            return []
        names = self._names
        squares = [(k, k) for k, (_, hot) in enumerate(names) if not hot]
        pairs = combinations(range(len(names)), 2)
        return squares + [(a, b) for a, b in pairs if names[a][0] != names[b][0]]


@dataclass(frozen=True)
class Polynomial:
    """A weighted sum of terms: the paper's g where the degree is 1.

    Attributes
    ----------
    terms
        The columns.
    weights
        ``(size,)`` for one output or ``(size, l)`` for the logits of l levels; the constant first.
    """

    terms: Terms
    weights: Tensor

    def __call__(self, parents: Parents) -> Tensor:
        """Return the prediction, of the parents' shape, with a last axis for levels."""
        columns = self.terms(parents)
        weights = self.weights.to(columns[0])
        if weights.ndim == 2:
            return torch.stack(columns, dim=-1) @ weights[1:] + weights[0]
        total = torch.full_like(columns[0], weights[0].item())
        for column, weight in zip(columns, weights[1:].tolist(), strict=True):
            total = total.add(column, alpha=weight)
        return total

    @classmethod
    def least_squares(cls, terms: Terms, parents: Parents, target: Tensor) -> "Polynomial":
        """Fit by least squares."""
        columns = torch.stack(terms(parents), dim=-1).double()  # (i, m)
        centre, middle = columns.mean(0), target.double().mean()
        offset = columns - centre
        gram = offset.T @ offset
        gram.diagonal().add_(_RIDGE * len(target))
        slopes = torch.linalg.solve(gram, offset.T @ (target.double() - middle))
        return cls(terms, torch.cat([(middle - centre @ slopes)[None], slopes]))

    @classmethod
    def logistic(cls, terms: Terms, parents: Parents, codes: Tensor, n_levels: int) -> "Polynomial":
        """Fit the logits of levels by multinomial logistic regression.

        A level that never occurs keeps a logit so low that it is never chosen.
        """
        from sklearn.linear_model import LogisticRegression

        columns = torch.stack(terms(parents), dim=-1).double().numpy()
        model = LogisticRegression(C=100.0, max_iter=1000).fit(columns, codes.numpy())
        slopes, constants = model.coef_, model.intercept_
        if len(model.classes_) == 2:  # scikit-learn keeps one row of weights for two levels
            slopes = np.concatenate([np.zeros_like(slopes), slopes])
            constants = np.concatenate([np.zeros_like(constants), constants])
        weights = torch.zeros(terms.size, n_levels, dtype=torch.float64)
        weights[0] = -50.0
        seen = torch.from_numpy(model.classes_).long()
        weights[0, seen] = torch.from_numpy(constants)
        weights[1:, seen] = torch.from_numpy(slopes.T)
        return cls(terms, weights)


@dataclass(frozen=True)
class Exponential:
    """``origin + exp(polynomial)``: for amounts, whose spread grows with their size."""

    polynomial: Polynomial
    origin: float

    def __call__(self, parents: Parents) -> Tensor:
        """Return the prediction, of the parents' shape."""
        return self.polynomial(parents).exp() + self.origin

    @classmethod
    def fit(cls, terms: Terms, parents: Parents, target: Tensor, origin: float) -> "Exponential":
        """Fit the logarithm of what lies above the origin by least squares."""
        return cls(Polynomial.least_squares(terms, parents, (target - origin).log()), origin)


@dataclass(frozen=True)
class Boosted:
    """Boosted trees: flexible, but with steps, so poor at the direction of small changes."""

    terms: Terms
    model: Any

    def __call__(self, parents: Parents) -> Tensor:
        """Return the prediction, of the parents' shape; no gradient runs through it."""
        columns = torch.stack(self.terms(parents), dim=-1).detach().cpu()
        flat = self.model.predict(columns.reshape(-1, columns.shape[-1]).double().numpy())
        first = parents[self.terms.parents[0].name]
        return torch.from_numpy(flat).reshape(first.shape).to(first)

    @classmethod
    def fit(cls, terms: Terms, parents: Parents, target: Tensor, seed: int) -> "Boosted":
        """Fit on rows."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        columns = torch.stack(terms(parents), dim=-1).double().numpy()
        model = HistGradientBoostingRegressor(random_state=seed, early_stopping=False)
        return cls(terms, model.fit(columns, target.double().numpy()))
