"""The judge: what became of answers, whoever gave them.

A package hands over plain values. They are typed and rounded as the data is, the model is asked
about them again, and everything else is worked out from them. Rows without an answer count as
failures, and never drop out of a share.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.packages.adapters.shared import Feature
from benchmarks.packages.task import World

from proce.arrays import Array
from proce.causal import StructuralCausalModel
from proce.metrics.recourse import reach

_ROUNDING = 1e-6  # relative; a smaller difference to a limit is none


@dataclass(frozen=True)
class Verdict:
    """What became of the answer to one row.

    Attributes
    ----------
    answered
        Whether there was one.
    flips
        Whether the model says the target at the values as data.
    broken
        What the answer breaks, as texts; empty where all limits are kept.
    done
        The features that the person is to set or to hold.
    needless
        Those of them that could be left alone.
    distance
        Gower's distance of what is to be set.
    works
        Whether following the advice in the true world leads to the target; None where the true
        equations are not known, or nothing was answered.
    """

    answered: bool = False
    flips: bool = False
    broken: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    needless: tuple[str, ...] = ()
    distance: float = np.nan
    works: bool | None = None

    @property
    def usable(self) -> bool:
        """Whether the answer reaches the class and keeps the limits."""
        return self.flips and not self.broken

    @property
    def keeps_promise(self) -> bool:
        """Whether the answer is usable and works in the true world."""
        return self.usable and self.works is True


def judge(world: World, row: int, answer: Mapping[str, Any] | None) -> Verdict:
    """Return what became of an answer, as an adapter wrote it."""
    if answer is None or answer["values"] is None:
        return Verdict()
    before = world.rows.iloc[[row]]
    after, broken = typed(world, before, answer["values"])
    if after is None:
        return Verdict(answered=True, broken=tuple(broken))
    changed = [f.name for f in world.features if after[f.name].iloc[0] != before[f.name].iloc[0]]
    done = tuple(changed if answer.get("done") is None else answer["done"])
    broken += broken_limits(world.features, before, after, done)
    aim = max(0.5, float(answer.get("aim", 0.5)))
    flips = bool(world.ask(after)[0] >= 0.5)
    return Verdict(
        answered=True,
        flips=flips,
        broken=tuple(broken),
        done=done,
        needless=tuple(needless(world, before, after, done, aim)) if flips else (),
        distance=distance(world, before, after, done),
        works=None if world.data.truth is None else works(world, before, after, done),
    )


def typed(
    world: World, before: pd.DataFrame, values: Mapping[str, Any]
) -> tuple[pd.DataFrame | None, list[str]]:
    """Return an answer as a row of the data, or None, and what was wrong with it.

    Numbers are rounded to their step. One that is rounded back to the old value did not change.
    """
    broken: list[str] = []
    columns: dict[str, Any] = {}
    for feature in world.features:
        value, old = values.get(feature.name), before[feature.name].iloc[0]
        if feature.is_number:
            number = _number(value)
            if number is None:
                broken.append(f"{feature.name}: {value!r} is no number")
                continue
            if feature.step is not None and number != old:
                number = round(number / feature.step) * feature.step
            columns[feature.name] = number
        elif str(value) in feature.levels:
            columns[feature.name] = str(value)
        else:
            broken.append(f"{feature.name}: unknown level {value!r}")
    if broken:
        return None, broken
    frame = pd.DataFrame([columns]).astype(dict(before.dtypes.items()))
    return frame, []


def _number(value: Any) -> float | None:
    """Return a finite number, or None."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if np.isfinite(number) else None


def broken_limits(
    features: Sequence[Feature], before: pd.DataFrame, after: pd.DataFrame, done: Sequence[str]
) -> list[str]:
    """Return which limits a row breaks, as texts.

    What follows from an action, and is not done, may move where its feature is ``free`` or
    ``follows``; the ways and ranges of a feature bind however it is moved.
    """
    broken = []
    for feature in features:
        old, new = before[feature.name].iloc[0], after[feature.name].iloc[0]
        if old == new:
            continue
        if feature.move == "fixed" or (feature.move == "follows" and feature.name in done):
            broken.append(f"{feature.name}: may not be set")
            continue
        if feature.is_number:
            assert feature.low is not None
            assert feature.high is not None
            slack = _ROUNDING * (feature.high - feature.low)
            if not min(feature.low, old) - slack <= new <= max(feature.high, old) + slack:
                broken.append(f"{feature.name}: {new:g} is out of range")
            rise = new > old
        else:
            rise = feature.levels.index(str(new)) > feature.levels.index(str(old))
        if (feature.move == "up" and not rise) or (feature.move == "down" and rise):
            broken.append(f"{feature.name}: moves the wrong way")
    return broken


def needless(
    world: World, before: pd.DataFrame, after: pd.DataFrame, done: Sequence[str], aim: float
) -> list[str]:
    """Return the actions that could each be left out, with the class, and its aim, still reached.

    Where something else was told to follow, the other actions are taken in the true world;
    elsewhere nothing follows, and the row as it is told is asked about.
    """
    found = []
    follows = any(
        after[f.name].iloc[0] != before[f.name].iloc[0] and f.name not in done
        for f in world.features
    )
    for name in done:
        if follows and world.data.truth is not None:
            others = [other for other in done if other != name]
            trial = followed(world, before, after, others)
        else:
            trial = after.assign(**{name: before[name].to_numpy()})
            trial = trial.astype(dict(before.dtypes.items()))
        if world.ask(trial)[0] >= aim:
            found.append(name)
    return found


def distance(world: World, before: pd.DataFrame, after: pd.DataFrame, done: Sequence[str]) -> float:
    """Return Gower's distance of what is done; numbers by the span from 1% to 99%."""
    total = 0.0
    for feature in world.features:
        old, new = before[feature.name].iloc[0], after[feature.name].iloc[0]
        if feature.name not in done or old == new:
            continue
        if feature.is_number:
            column = world.train[feature.name].to_numpy(dtype=float)
            low, high = np.quantile(column, [0.01, 0.99])
            total += abs(float(new) - float(old)) / (high - low)
        elif feature.kind == "rank":
            ranks = feature.levels.index(str(new)) - feature.levels.index(str(old))
            total += abs(ranks) / (len(feature.levels) - 1)
        else:
            total += 1.0
    return total / len(world.features)


def works(world: World, before: pd.DataFrame, after: pd.DataFrame, done: Sequence[str]) -> bool:
    """Return whether the model says the target once the advice was followed in the true world."""
    if not done:
        return False
    return bool(world.ask(followed(world, before, after, done))[0] >= 0.5)


def followed(
    world: World, before: pd.DataFrame, after: pd.DataFrame, done: Sequence[str]
) -> pd.DataFrame:
    """Return where people end who set some features to the told values, by the true equations."""
    truth = world.data.truth
    assert truth is not None
    factual, told = truth.codec.encode(before), truth.codec.encode(after)
    by_hand = np.array([name in done for name in truth.codec.schema.names])
    reached = reach(truth, factual, told[:, None], residual(truth, world, before), by_hand)
    frame: pd.DataFrame = truth.codec.decode(reached[:, 0])
    return frame.astype(dict(before.dtypes.items()))


def residual(truth: StructuralCausalModel, world: World, before: pd.DataFrame) -> Array:
    """Return the noise of one person, the same whoever gives the advice."""
    keys = np.array([int(before.index[0])])
    return truth.abduct(truth.codec.encode(before), seed=0, keys=keys)


@dataclass(frozen=True)
class Following:
    """How well the consequences of one change were told.

    Attributes
    ----------
    error
        The mean absolute error of the numbers that truly follow, each on its span from 1% to 99%;
        NaN without an answer.
    naive
        The error of the answer that nothing else moves.
    """

    error: float
    naive: float


def judge_following(
    world: World, question: tuple[int, Mapping[str, Any]], answer: Mapping[str, Any] | None
) -> Following | None:
    """Return how well consequences were told; None where nothing follows in truth."""
    row, changes = question
    before = world.rows.iloc[[row]]
    set_to = before.assign(**dict(changes)).astype(dict(before.dtypes.items()))
    reached = followed(world, before, set_to, tuple(changes))
    errors, naive = [], []
    for feature in world.features:
        old, new = before[feature.name].iloc[0], reached[feature.name].iloc[0]
        if not feature.is_number or feature.name in changes or old == new:
            continue
        low, high = np.quantile(world.train[feature.name].to_numpy(dtype=float), [0.01, 0.99])
        told = None if answer is None else _number((answer["values"] or {}).get(feature.name))
        errors.append(np.nan if told is None else abs(told - float(new)) / (high - low))
        naive.append(abs(float(old) - float(new)) / (high - low))
    return Following(float(np.mean(errors)), float(np.mean(naive))) if errors else None
