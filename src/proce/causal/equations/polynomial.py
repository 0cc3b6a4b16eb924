"""Equations that are known as weights: linear, quadratic with interactions, and splines."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from proce.arrays import Array
from proce.causal.equations.mechanism import Parents
from proce.causal.equations.tables import EquationTables, rows_of
from proce.causal.equations.terms import Terms
from proce.causal.programs.program import EFFECT, Program, Record
from proce.causal.programs.responses import solve


class _Weighted:
    """An equation of weighted terms, which a kernel solves."""

    def __call__(self, parents: Parents) -> Array:
        """Return the prediction, of the parents' shape, with a last axis for levels."""
        polynomial = polynomial_of(self)
        rows, shape = rows_of(polynomial.terms, parents)
        predicted = solve(self._program, rows)
        return predicted.T.reshape((*shape, *polynomial.weights.shape[1:]))

    @cached_property
    def _program(self) -> Program:
        """The equation by itself, of rows that have its parents alone."""
        tables, effects = EquationTables(), np.zeros((1, 1), EFFECT)
        add_equation(tables, effects[0, 0], self, polynomial_of(self).terms.places)
        return tables.program(effects)


@dataclass(frozen=True)
class Polynomial(_Weighted):
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


@dataclass(frozen=True)
class Exponential(_Weighted):
    """``origin + exp(polynomial)``: for amounts, whose spread grows with their size."""

    polynomial: Polynomial
    origin: float


def polynomial_of(equation: Any) -> Any:
    """Return the polynomial of an exponential; any other equation as it is."""
    return equation.polynomial if isinstance(equation, Exponential) else equation


def add_equation(
    tables: EquationTables, record: Record, equation: Any, positions: Mapping[str, int]
) -> None:
    """Add a weighted equation to tables, and write where it stands into the record of its effect.

    ``positions`` are where its parents stand in rows, by name.
    """
    polynomial = polynomial_of(equation)
    tables.add(record, polynomial.terms, polynomial.weights, positions)
    if equation is not polynomial:
        record["is_exponential"], record["equation_origin"] = True, equation.origin
