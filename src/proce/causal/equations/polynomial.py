"""Equations that are known as weights: linear, quadratic with interactions, and splines."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from proce.arrays import Array
from proce.causal.equations.mechanism import Parents
from proce.causal.equations.tables import EquationTables
from proce.causal.equations.terms import Terms
from proce.causal.programs.program import EFFECT, Program
from proce.causal.programs.responses import solve
from proce.compiled.elementary import exponentials


@dataclass(frozen=True)
class Polynomial:
    """A weighted sum of terms: the paper's g where the degree is 1.

    Attributes
    ----------
    terms
        What is weighed.
    weights
        ``(size,)`` for one output or ``(size, l)`` for the logits of l levels; the constant first.
    """

    terms: Terms
    weights: Array

    def __call__(self, parents: Parents) -> Array:
        """Return the prediction, of the parents' shape, with a last axis for levels."""
        columns = np.broadcast_arrays(*(parents[cause.name] for cause in self.terms.parents))
        shape = columns[0].shape
        rows = np.stack([column.reshape(-1) for column in columns], axis=-1)
        predicted = solve(self._program, np.asarray(rows, np.float64))
        return predicted.T.reshape((*shape, *self.weights.shape[1:]))

    @cached_property
    def _program(self) -> Program:
        """The equation by itself, of rows that have its parents alone."""
        places = {cause.name: place for place, cause in enumerate(self.terms.parents)}
        tables, effects = EquationTables(), np.zeros((1, 1), EFFECT)
        tables.add(effects[0, 0], self.terms, self.weights, places)
        return tables.program(effects)


@dataclass(frozen=True)
class Exponential:
    """``origin + exp(polynomial)``: for amounts, whose spread grows with their size."""

    polynomial: Polynomial
    origin: float

    def __call__(self, parents: Parents) -> Array:
        """Return the prediction, of the parents' shape."""
        return exponentials(self.polynomial(parents)) + self.origin
