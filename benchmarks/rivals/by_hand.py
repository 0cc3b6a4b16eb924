"""The paper's problem for pymoo, vectorised by hand in numpy.

Nothing of ProCE's search, equations or rules is used: the networks are matrix products of their
weights, levels are one-hot by index, the equations are linear as in the paper, and what follows
from the causes is compared as in Eqs. 8 and 9.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proce.classifier import TrainedNetwork
from proce.latent import AutoEncoder
from proce.schema import Codec, Continuous

Array = NDArray[Any]
MARGIN = 0.1
POPULATION, GENERATIONS = 100, 50


@dataclass(frozen=True)
class Layers:
    """Linear layers with ReLU in between."""

    weights: list[tuple[Array, Array]]

    def __call__(self, inputs: Array) -> Array:
        """Return the outputs of all rows."""
        for weight, bias in self.weights[:-1]:
            inputs = np.maximum(inputs @ weight + bias, 0)
        weight, bias = self.weights[-1]
        return inputs @ weight + bias

    @classmethod
    def of(cls, *layers: tuple[Array, Array]) -> "Layers":
        """Copy the weights ``(o, i)`` and biases ``(o,)`` of layers."""
        return cls([(weights.T.copy(), bias.copy()) for weights, bias in layers])


class Setting:
    """What one row's problem shares with every other's: networks, tables, linear equations.

    Parameters
    ----------
    codec
        The features; numbers are on the range of the training rows, levels are codes.
    rows
        The training rows.
    model, autoencoder
        The two networks.
    edges
        The causal graph; none for the problem without causes.
    """

    def __init__(
        self,
        codec: Codec,
        rows: Array,
        model: TrainedNetwork,
        autoencoder: AutoEncoder,
        edges: tuple[tuple[str, str], ...] = (),
    ) -> None:
        names = list(codec.schema.names)
        self.is_number = np.array([isinstance(feature, Continuous) for feature in codec.schema])
        self.reach = codec.reach
        sizes = [1 if isinstance(f, Continuous) else len(f.levels) for f in codec.schema]
        self.starts = np.cumsum([0, *sizes[:-1]])
        self.width = sum(sizes)
        self.levels = np.flatnonzero(~self.is_number)
        self.numbers = np.flatnonzero(self.is_number)
        self.sizes = sizes
        self.classifier = Layers.of(*((layer.weights, layer.bias) for layer in model.layers))
        learned, columns = autoencoder.weights, autoencoder.columns
        halves = ("encoder.0", "encoder.2")
        self.encoder = Layers.of(*((learned[f"{n}.weight"], learned[f"{n}.bias"]) for n in halves))
        self.plain, self.coded = np.array(columns.plain), np.array(columns.coded)
        self.embeddings = learned["embeddings.weight"].copy()
        self.embedding_starts = columns.starts.copy()
        self.flags = np.zeros((1, len(names)), np.float32)
        self.tables = self._tables()
        self.rows = rows
        self.equations = [
            self._equation([names.index(c) for c, e in edges if e == effect], names.index(effect))
            for effect in dict.fromkeys(e for _, e in edges)
        ]

    def _tables(self) -> dict[int, Array]:
        """Return the distances of the levels' embeddings by feature, the largest 1."""
        tables = {}
        for feature, start in zip(self.coded, self.embedding_starts, strict=True):
            own = self.embeddings[start : start + self.sizes[feature]]
            apart = np.linalg.norm(own[:, None] - own[None], axis=-1)
            tables[int(feature)] = apart / max(apart.max(), 1e-6)
        return tables

    def one_hot(self, rows: Array) -> Array:
        """Return numbers as they are, and one column for each level."""
        inputs = np.zeros((len(rows), self.width), np.float32)
        inputs[:, self.starts[self.numbers]] = rows[:, self.numbers]
        columns = self.starts[self.levels] + rows[:, self.levels].astype(np.int64)
        inputs[np.arange(len(rows))[:, None], columns] = 1
        return inputs

    def latents(self, rows: Array) -> Array:
        """Return the latents of rows: numbers, ranks, embeddings, and flags that are all 0."""
        codes = rows[:, self.coded].astype(np.int64) + self.embedding_starts
        plain = rows[:, self.plain] / self.reach[self.plain]
        embedded = self.embeddings[codes].reshape(len(rows), -1)
        flags = np.broadcast_to(self.flags, (len(rows), self.flags.shape[1]))
        return self.encoder(np.concatenate([plain.astype(np.float32), embedded, flags], axis=1))

    def _columns(self, rows: Array, causes: list[int]) -> Array:
        inputs = self.one_hot(rows)
        used = [np.arange(self.starts[c], self.starts[c] + self.sizes[c]) for c in causes]
        return np.concatenate([inputs[:, np.concatenate(used)], np.ones((len(rows), 1))], axis=1)

    def _equation(self, causes: list[int], effect: int) -> tuple[list[int], int, Array]:
        """Fit an effect linearly: a number or rank, or a column for each level."""
        target = self.rows[:, [effect]]
        if effect in self.coded:
            target = np.eye(self.sizes[effect])[self.rows[:, effect].astype(np.int64)]
        weights = np.linalg.lstsq(self._columns(self.rows, causes), target, rcond=None)[0]
        return causes, effect, weights

    def predicted(self, rows: Array, causes: list[int], weights: Array) -> Array:
        """Return what a linear equation says of rows."""
        return self._columns(rows, causes) @ weights


def front_by_hand(
    setting: Setting, factual: Array, prototype: Array, lower: Array, upper: Array, ranks: Any
) -> tuple[float, Array]:
    """Return the CPU time of pymoo's NSGA2 on one row, and the front that it finds.

    Parameters
    ----------
    setting
        What all rows share.
    factual
        The row ``(f,)``.
    prototype
        Its prototype in the latent space.
    lower, upper
        Between which the features may move ``(f,)``; equal where they may not.
    ranks
        The positions of the features that only rise together: those of education and age, for the
        rule that more education takes time; ``None`` without rules.
    """
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import Problem
    from pymoo.optimize import minimize

    movable = np.flatnonzero(upper > lower)
    residuals = []
    for causes, effect, weights in setting.equations:
        own = factual[[effect]]
        if effect in setting.coded:
            own = np.eye(setting.sizes[effect])[int(factual[effect])]
        residuals.append(own - setting.predicted(factual[None], causes, weights)[0])
    is_level = ~setting.is_number

    class ByHand(Problem):
        def __init__(self) -> None:
            super().__init__(
                n_var=len(movable),
                n_obj=3,
                n_ieq_constr=2 if ranks else 1,
                xl=lower[movable],
                xu=upper[movable],
            )

        def _evaluate(self, x: Array, out: dict[str, Any], *_: Any, **__: Any) -> None:
            rows = np.repeat(factual[None], len(x), axis=0)
            rows[:, movable] = x
            rows[:, is_level] = np.rint(rows[:, is_level])
            logit = setting.classifier(setting.one_hot(rows))[:, 0]
            probability = 1 / (1 + np.exp(-logit))
            offset = setting.latents(rows) - prototype
            distance = np.abs(rows - factual) / setting.reach
            for feature, table in setting.tables.items():
                distance[:, feature] = table[int(factual[feature]), rows[:, feature].astype(int)]
            for (causes, effect, weights), residual in zip(
                setting.equations, residuals, strict=True
            ):
                expected = setting.predicted(rows, causes, weights) + residual
                if effect in setting.tables:
                    codes = expected.argmax(1)
                    table = setting.tables[effect]
                    distance[:, effect] = table[codes, rows[:, effect].astype(int)]
                else:
                    gap = np.abs(rows[:, effect] - expected[:, 0])
                    distance[:, effect] = gap / setting.reach[effect]
            out["F"] = np.column_stack(
                [
                    -np.log(np.maximum(probability, 1e-12)),
                    (offset**2).mean(1),
                    distance.sum(1),
                ]
            )
            limits = [0.5 + MARGIN - probability]
            if ranks:
                education, age = ranks
                learned = rows[:, education] > factual[education]
                limits.append(learned * np.maximum(factual[age] + 1e-6 - rows[:, age], 0))
            out["G"] = np.column_stack(limits)

    algorithm = NSGA2(pop_size=POPULATION, eliminate_duplicates=True)
    start = time.process_time()
    result = minimize(ByHand(), algorithm, ("n_gen", GENERATIONS), seed=1)
    seconds = time.process_time() - start
    return seconds, result.F if result.F is not None else np.empty((0, 3))
