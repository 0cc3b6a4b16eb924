"""What a portfolio costs: core-hours per million rows by columns, population and model.

Run: ``python benchmarks/cost.py [--rows 128]``. CPU time of one thread. A row that is explained
costs ``fixed + column * columns + candidates * (each + cell * columns) + answers * model``
microseconds: what is done once for a row, what a search scores, and what the model is asked. The
four constants are fitted on a grid of columns and populations, with the model's own time taken out,
and then foretell cells that were not in the grid: other columns, another population, and another
model of which only the time of one answer is known.
"""

import argparse
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import torch
from scipy.optimize import nnls
from sklearn.ensemble import HistGradientBoostingClassifier

import proce
from proce.classifier import fit_network

COLUMNS, POPULATIONS = (5, 10, 20, 40), (50, 100, 200)
HELD_OUT = ((15, 150, "network"), (30, 100, "network"), (15, 100, "boosting"), (30, 50, "boosting"))
KINDS = ("_probabilities_of", "_probabilities_of_raw", "_probabilities_of_frame")


@dataclass(frozen=True)
class Cell:
    """What explaining some rows took, a row: milliseconds, candidates, answers of the model."""

    columns: int
    population: int
    model: str
    total: float
    own: float
    candidates: float
    answers: float

    @property
    def terms(self) -> "np.ndarray":
        """What the constants are multiplied by."""
        return np.array([1, self.columns, self.candidates, self.candidates * self.columns])

    @property
    def rest(self) -> float:
        """The milliseconds that are not the model's."""
        return self.total - self.own


def people(n: int, columns: int, seed: int) -> tuple[pd.DataFrame, Any]:
    """Return rows of numbers and levels, and whom the bank accepts: about half."""
    draw = np.random.default_rng(seed)
    common = draw.normal(size=(n, 1))
    numbers = (100 * (0.6 * common + draw.normal(size=(n, columns)))).round()
    frame = pd.DataFrame(numbers, columns=[f"number_{at}" for at in range(columns)])
    for at in range(3, columns, 5):
        frame[f"number_{at}"] = draw.choice(["low", "middle", "high"], n)
    weights = np.random.default_rng(0).normal(size=columns)
    plain = frame.select_dtypes("number")
    score = plain.to_numpy() @ weights[: plain.shape[1]]
    return frame, (score > np.median(score)).astype(int)


def measure(columns: int, population: int, model_name: str, n_rows: int) -> Cell:
    """Explain rows and take the model's own time apart."""
    train, label = people(1000, columns, seed=1)
    codec = proce.Codec.fit(proce.Schema.infer(train), train)
    if model_name == "network":
        model = fit_network(codec, train, label)
    else:
        levels = [name for name in train if train[name].dtype.kind not in "fi"]
        numbers = train.assign(**{name: train[name].astype("category") for name in levels})
        train = numbers
        model = HistGradientBoostingClassifier(
            random_state=0, categorical_features="from_dtype"
        ).fit(train, label)
    settings = proce.SearchSettings(population_size=population, n_offspring=population)
    graph = [(f"number_{at}", f"number_{at + 1}") for at in range(3)]
    explainer = proce.ProCE(model, graph=graph, settings=settings).fit(train)
    rows = people(8 * n_rows, columns, seed=2)[0].astype(train.dtypes)
    asked = explainer.fitted_.classifier
    rejected = rows[asked.predict(explainer.fitted_.codec.encode(rows)) == 0][:n_rows]
    explainer.explain(rejected[:16], target=1, n=1, keep_front=False)
    spent = {"seconds": 0.0, "answers": 0, "inside": 0}

    def watched(function: Any) -> Any:
        def ask(self: Any, rows: Any, *more: Any) -> Any:
            if spent["inside"]:
                return function(self, rows, *more)
            spent["inside"], start = 1, time.process_time()
            answer = function(self, rows, *more)
            spent["seconds"] += time.process_time() - start
            spent["answers"] += len(answer)
            spent["inside"] = 0
            return answer

        return ask

    with ExitStack() as patches:
        for kind in KINDS:
            own = watched(getattr(type(asked), kind))
            patches.enter_context(mock.patch.object(type(asked), kind, own))
        start = time.process_time()
        result = explainer.explain(rejected, target=1, n=1, keep_front=False)
        total = time.process_time() - start
    n = len(rejected)
    return Cell(
        columns,
        population,
        model_name,
        1e3 * total / n,
        1e3 * spent["seconds"] / n,
        result.provenance.evaluations / n,
        spent["answers"] / n,
    )


def already_target(n_rows: int) -> float:
    """Return the microseconds of a row that needs no change."""
    train, label = people(1000, 20, seed=1)
    codec = proce.Codec.fit(proce.Schema.infer(train), train)
    explainer = proce.ProCE(fit_network(codec, train, label)).fit(train)
    rows = people(4 * n_rows, 20, seed=2)[0]
    asked = explainer.fitted_.classifier
    good = rows[asked.predict(explainer.fitted_.codec.encode(rows)) == 1][:n_rows]
    start = time.process_time()
    explainer.explain(good, target=1, n=1).to_frame()
    return 1e6 * (time.process_time() - start) / len(good)


def show(cell: Cell, foretold: float) -> None:
    """Print a cell and what the fit says of it."""
    print(
        f"| {cell.columns} | {cell.population} | {cell.model} | {cell.candidates:,.0f} |"
        f" {cell.answers:,.0f} | {cell.own:.2f} | {cell.total:.2f} | {foretold:.2f} |"
        f" {foretold / cell.total - 1:+.0%} | {cell.total / 3.6:.1f} |",
        flush=True,
    )


def print_head() -> None:
    """Print the head of a table."""
    print(
        "| columns | population | model | candidates | answers | own answers, ms | ms a row |"
        " foretold | | core-hours per million |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")


def main() -> None:
    """Measure, fit, foretell and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=128, help="rows of a cell")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    grid = [measure(c, p, "network", arguments.rows) for c in COLUMNS for p in POPULATIONS]
    terms = np.array([cell.terms for cell in grid])
    rest = np.array([cell.rest for cell in grid])
    # Relative errors count, not those of the dearest cell.
    constants, _ = nnls(terms / rest[:, None], np.ones(len(grid)))
    fixed, column, each, cell_cost = 1e3 * constants
    print(
        f"{fixed:,.0f} µs and {column:,.0f} µs a column; each candidate {each:.2f} µs and"
        f" {cell_cost:.3f} µs a column"
    )
    print(f"a row that needs no change: {already_target(20_000):.0f} µs\n")
    print_head()
    for cell in grid:
        show(cell, float(cell.terms @ constants) + cell.own)
    print("\nnot in the grid:\n")
    print_head()
    for columns, population, model in HELD_OUT:
        cell = measure(columns, population, model, arguments.rows)
        show(cell, float(cell.terms @ constants) + cell.own)


if __name__ == "__main__":
    main()
