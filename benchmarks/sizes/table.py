"""A table of a given shape: columns, levels, edges and rules, as many as are asked for."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from proce.schema import Categorical, Continuous, Feature, Schema

_EVERY = 5  # column has levels
_SPAN = 40  # columns back that a cause is at most
_PLAN = 7  # the seed of all that is not a person: edges, weights


@dataclass(frozen=True)
class Shape:
    """How large everything is: the table, its graph, its rules, and what is asked.

    Attributes
    ----------
    columns, levels
        Columns of the table, a fifth of them with so many levels, the others numbers.
    rules, edges
        Rules between numbers, and edges of the causal graph.
    training
        Rows that are learned from.
    rows
        Rows that are explained in one call.
    level_edges
        Whether edges lead from and to columns with levels too, not between numbers alone.
    """

    columns: int = 30
    levels: int = 4
    rules: int = 5
    edges: int = 30
    training: int = 2_000
    rows: int = 64
    level_edges: bool = True


class Table:
    """People whose columns cause each other along the edges, and whom a bank accepts or not."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        plan = np.random.default_rng(_PLAN)
        self._has_levels = [place % _EVERY == _EVERY - 1 for place in range(shape.columns)]
        self.schema = Schema(
            [self._feature(place, own) for place, own in enumerate(self._has_levels)]
        )
        self.causes = self._draw_edges(plan)
        order = plan.permutation(shape.columns)
        # Few columns decide much and many decide little, however many there are.
        self.weights = plan.choice([-1.0, 1.0], shape.columns) / (1 + order)

    @property
    def graph(self) -> list[tuple[str, str]]:
        """The edges by name."""
        names = self.schema.names
        return [
            (names[cause], names[effect])
            for effect, causes in enumerate(self.causes)
            for cause in causes
        ]

    @property
    def rules(self) -> list[str]:
        """Rules of which each ties a number to the next: who raises one may not lower the other."""
        numbers = [feature.name for feature in self.schema if isinstance(feature, Continuous)]
        n, texts = len(numbers), []
        for number in range(self.shape.rules):
            first = numbers[number % n]
            second = numbers[(number + 1 + number // n) % n]
            texts.append(f"cf.{first} > x.{first} => cf.{second} >= x.{second}")
        return texts

    def people(self, n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
        """Return rows, and whom the bank accepts: four in ten."""
        draw = np.random.default_rng(seed)
        hidden = draw.normal(size=(self.shape.columns, n))
        for effect, causes in enumerate(self.causes):
            if causes:
                pull = hidden[causes].sum(0) / np.sqrt(len(causes))
                hidden[effect] = 0.6 * hidden[effect] + 0.8 * pull
        columns = {
            feature.name: self._cells(feature, values)
            for feature, values in zip(self.schema, hidden, strict=True)
        }
        score = self.weights @ hidden
        return pd.DataFrame(columns), (score > 0.25 * self.spread).astype(int)

    @property
    def spread(self) -> float:
        """About the standard deviation of the score."""
        return float(np.linalg.norm(self.weights))

    def _feature(self, place: int, has_levels: bool) -> Feature:
        if not has_levels:
            return Continuous(f"number_{place}", step=1.0)
        return Categorical(f"level_{place}", [f"v{level}" for level in range(self.shape.levels)])

    def _draw_edges(self, plan: np.random.Generator) -> list[list[int]]:
        """Return the causes of each column, all of them before it and not far."""
        n = self.shape.columns
        near = [(cause, effect) for effect in range(n) for cause in range(effect - _SPAN, effect)]
        joined = [self.shape.level_edges or not own for own in self._has_levels]
        pairs = [pair for pair in near if pair[0] >= 0 and joined[pair[0]] and joined[pair[1]]]
        causes: list[list[int]] = [[] for _ in range(n)]
        for chosen in np.sort(plan.choice(len(pairs), self.shape.edges, replace=False)):
            cause, effect = pairs[chosen]
            causes[effect].append(cause)
        return causes

    def _cells(self, feature: Feature, values: np.ndarray) -> np.ndarray:
        if isinstance(feature, Continuous):
            return (100 * values).round()
        codes = np.clip((values + 3) / 6 * self.shape.levels, 0, self.shape.levels - 1)
        return np.array(feature.levels)[codes.astype(int)]
