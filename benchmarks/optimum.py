"""How near to the nearest? ProCE beside the exact optimum on a model whose optimum can be computed.

Run: ``PROCE_DATA=... python benchmarks/optimum.py [--rows 200] [--seed 0] [--data loan adult]``.
A logistic regression is linear in its numbers and additive in its levels, so that the closest row
of the target class is the solution of a mixed-integer programme (HiGHS, by scipy). It has ProCE's
own terms: mode ``off``, margin 0, absolute differences, the table of levels, the charge per action,
the steps and the bounds. No row of the class is nearer by this distance, whatever the method.
"""

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from proce.datasets import load_dataset
from proce.losses import Loss
from proce.methods import ProCE, SearchSettings
from proce.methods.calls.options import Options
from proce.methods.pipeline import ProceCall
from proce.objective import CounterfactualProblem, genome_of
from proce.objective.distance import ACTION_CHARGE
from proce.schema import Continuous

Vector = NDArray[np.float64]
LogOdds = Callable[[pd.DataFrame], Vector]


@dataclass(frozen=True)
class Choice:
    """What one feature of one row may become.

    Attributes
    ----------
    gain
        ``(m,)``: for levels, what each adds to the log-odds; for a number, what a unit adds.
    cost
        ``(m,)``: the distance of each level, its charge included; for a number that of a unit.
    own
        Where the row is: the position of its level, or its entry.
    grid
        For a number, the grid's origin and step and the lowest and highest entry, else ``None``.
    """

    gain: Vector
    cost: Vector
    own: float
    grid: tuple[float, float, float, float] | None = None


class Programme:
    """The closest row of the target class as a mixed-integer programme, built up by feature."""

    def __init__(self) -> None:
        self.cost: list[float] = []
        self.gain: list[float] = []
        self.upper: list[float] = []
        self.lower: list[float] = []
        self.is_integer: list[int] = []
        self.rows: list[tuple[dict[int, float], float, float]] = []

    def variable(
        self, cost: float, gain: float, lower: float, upper: float, *, integer: bool
    ) -> int:
        """Add a variable, and return its position."""
        self.cost.append(cost)
        self.gain.append(gain)
        self.lower.append(lower)
        self.upper.append(upper)
        self.is_integer.append(int(integer))
        return len(self.cost) - 1

    def add(self, choice: Choice) -> None:
        """Add the variables and conditions of a feature."""
        if choice.grid is None:
            chosen = [
                self.variable(cost, gain, 0, 1, integer=True)
                for cost, gain in zip(choice.cost, choice.gain, strict=True)
            ]
            self.rows.append((dict.fromkeys(chosen, 1.0), 1, 1))
            return
        origin, step, lowest, highest = choice.grid
        own, unit, slope = choice.own, float(choice.cost[0]), float(choice.gain[0])
        most_up, most_down = max(highest - own, 0.0), max(own - lowest, 0.0)
        up = self.variable(unit, slope, 0, most_up, integer=False)
        down = self.variable(unit, -slope, 0, most_down, integer=False)
        goes_up = self.variable(ACTION_CHARGE, 0, 0, 1, integer=True)
        goes_down = self.variable(ACTION_CHARGE, 0, 0, 1, integer=True)
        self.rows.append(({up: 1, goes_up: -most_up}, -np.inf, 0))
        self.rows.append(({down: 1, goes_down: -most_down}, -np.inf, 0))
        self.rows.append(({goes_up: 1, goes_down: 1}, 0, 1))
        # Who starts outside of the limits and moves must end inside.
        self.rows.append(({up: 1, goes_up: own - lowest}, 0, np.inf))
        self.rows.append(({down: 1, goes_down: highest - own}, 0, np.inf))
        if step:
            first, last = np.floor((lowest - origin) / step) - 1, np.ceil((highest - origin) / step)
            first = min(first, np.floor((own - origin) / step))
            last = max(last + 1, np.ceil((own - origin) / step))
            node = self.variable(0, 0, first, last, integer=True)
            off_grid = {up: 1.0, down: -1.0, node: -step}
            reach = {goes_up: step, goes_down: step}  # a number that moves ends on the grid
            self.rows.append((off_grid | reach, -np.inf, origin - own + step))
            less = {position: -value for position, value in reach.items()}
            self.rows.append((off_grid | less, origin - own - step, np.inf))

    def optimum(self, log_odds: float) -> float | None:
        """Return the least distance at which the log-odds are 0 or more; ``None`` if none is.

        Parameters
        ----------
        log_odds
            The log-odds without what the variables add.
        """
        n = len(self.cost)
        matrix = np.zeros((len(self.rows) + 1, n))
        for line, (entries, _, _) in enumerate(self.rows):
            for position, value in entries.items():
                matrix[line, position] = value
        matrix[-1] = self.gain
        low = [row[1] for row in self.rows] + [-log_odds]
        high = [row[2] for row in self.rows] + [np.inf]
        solved = milp(
            self.cost,
            integrality=self.is_integer,
            bounds=Bounds(self.lower, self.upper),
            constraints=LinearConstraint(matrix, low, high),
            options={"mip_rel_gap": 1e-6},
        )
        return float(solved.fun) if solved.success else None


def optimum(problem: CounterfactualProblem, frame: pd.DataFrame, log_odds: LogOdds) -> float | None:
    """Return the least distance of the only row of a problem.

    Parameters
    ----------
    problem
        The problem of one row, in mode ``off`` and without rules.
    frame
        The row as the model takes it.
    log_odds
        The model's log-odds of the target, linear in its numbers and additive in its features.
    """
    codec, own = problem.codec, problem.batch.factual
    genome = genome_of(codec, own, problem.limits, problem.gene_map)
    programme, base = Programme(), float(log_odds(frame)[0])
    for position, feature in enumerate(codec.schema):
        if not bool(genome.movable[0, position]):
            continue
        low, high = (float(end[0, position]) for end in (genome.lower, genome.upper))
        here = float(own[0, position])
        if isinstance(feature, Continuous):
            ends = pd.concat([frame, frame], ignore_index=True)
            ends[feature.name] = ends[feature.name].astype(float)
            ends.loc[1, feature.name] += float(codec.span[position])
            slope = np.diff(log_odds(ends))
            grid = (float(genome.origin[position]), float(genome.step[position]), low, high)
            unit = np.array([float(problem.effort[position] / codec.reach[position])])
            programme.add(Choice(slope, unit, here, grid))
            continue
        codes = sorted({*np.arange(low, high + 1), here})
        rows = np.repeat(own[:, None], len(codes), axis=1)
        rows[0, :, position] = codes
        realised = problem.realise(rows)
        allowed = realised.point[0, :, position] == rows[0, :, position]  # no level to avoid
        cost = problem.final_distance(realised)[0]
        levels = [feature.levels[int(code)] for code in codes]
        tried = pd.concat([frame] * len(codes), ignore_index=True)
        tried[feature.name] = pd.Series(levels).astype(frame[feature.name].dtype)
        gain = log_odds(tried) - base
        programme.add(Choice(gain[allowed], cost[allowed], here))
    return programme.optimum(base)


def ratios(
    explainer: ProCE, frame: pd.DataFrame, log_odds: LogOdds
) -> tuple[NDArray[np.float64], int]:
    """Return ProCE's distance over the optimum for rows that both answer, and who is missing.

    Parameters
    ----------
    explainer
        An explainer in mode ``off``, with margin 0 and without rules.
    frame
        The rows to explain.
    log_odds
        The model's log-odds of the target; see :func:`optimum`.
    """
    call = ProceCall(explainer.fitted_, Options(target=1, n=1), frame)
    result, ratio, n_missed = call.run(), [], 0
    for line, item in enumerate(result):
        problem = call.spec.problem(call.batch(np.array([line])))
        best = optimum(problem, frame.iloc[[line]], log_odds)
        if best is None:
            continue
        if len(item):
            ratio.append(float(item.losses[0, Loss.DISTANCE]) / best)
        n_missed += not len(item)
    return np.array(ratio), n_missed


def fit_linear(train: pd.DataFrame, label: Any) -> Any:
    """Return a logistic regression on standardised numbers and one column per level."""
    numbers = make_column_selector(dtype_include="number")
    levels = make_column_selector(dtype_exclude="number")
    columns = make_column_transformer(
        (StandardScaler(), numbers), (OneHotEncoder(handle_unknown="ignore"), levels)
    )
    return make_pipeline(columns, LogisticRegression(max_iter=2000)).fit(train, label)


def main() -> None:
    """Parse, measure and print."""
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", nargs="+", default=["loan", "adult"])
    arguments = parser.parse_args()
    print("| data set | rows | missed | mean ratio | median | 95% | worst | optimal | CPU, s |")
    print("|" + "---|" * 9)
    for name in arguments.data:
        data, start = load_dataset(name), sum(os.times()[:4])
        train, test, label, _ = train_test_split(
            data.frame, data.label, test_size=0.2, random_state=arguments.seed
        )
        model = fit_linear(train, label)
        rejected = test[model.predict(test) == 0].head(arguments.rows)
        settings = SearchSettings(margin=0.0)
        explainer = ProCE(model, data.schema, causal="off", settings=settings).fit(train)
        ratio, n_missed = ratios(explainer, rejected, model.decision_function)
        print(
            f"| {name} | {len(rejected)} | {n_missed} | {ratio.mean():.4f} |"
            f" {np.median(ratio):.4f} | {np.quantile(ratio, 0.95):.4f} | {ratio.max():.4f} |"
            f" {(ratio < 1.001).mean():.0%} | {sum(os.times()[:4]) - start:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
