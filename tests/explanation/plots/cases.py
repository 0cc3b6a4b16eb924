"""Made-up results for pictures: any names, any number of features, ways and groups."""

from collections.abc import Sequence
from itertools import cycle, islice
from typing import Any

import numpy as np
import pandas as pd

from proce.explanation import Explanation, Explanations, Outcome
from proce.explanation.record.context import spread_of
from proce.schema import Categorical, Codec, Continuous, Layout, Ordinal, Schema

from ...explained import Way, changed_rows, explained_row, fronts_of_one, together
from ..samples import context, provenance

SHORT = ("income", "savings", "job", "debt", "age", "rate")
LONG = (
    "number of months since the last payment that was late by more than thirty days",
    "total_of_all_instalments_that_are_still_to_be_paid_to_other_banks_this_year",
    "kind of employment contract, as the employer stated it in the last letter",
    "credit score of the bureau, in the edition that was valid when it was asked for",
)
ODD = (
    "$x$",
    "DejaVu Sans",
    " ",
    "<b>bold</b>",
    "الدخل الشهري",
    "信用评分",
    "💰 money 🏦",
    "__under_score__",
    r"$\frac{1}{0$",  # would fail if it were read as mathematics
    "W" * 70,
    "a & b -- c",
    "100 %",
)
NAMES = {"short": SHORT, "long": LONG, "odd": ODD}
_N_ROWS = 24
PLOTS = sorted(
    {verb for own in (Explanation, Explanations) for verb in dir(own) if "plot_" in verb}
)


def drawn(plot: str, result: Explanations, ax: Any = None) -> Any:
    """Draw a picture of a result, or of its first row where only rows have it; return its axes."""
    if plot == "plot_groups":
        groups = [f"{ODD[row % len(ODD)]} of {LONG[row % len(LONG)]}" for row in range(len(result))]
        return result.plot_groups(groups, ax=ax)
    return getattr(result if hasattr(result, plot) else result[0], plot)(ax=ax)


def result_of(
    names: str = "short",
    n_features: int = 3,
    n_ways: int = 2,
    *,
    n_rows: int = 4,
    found: bool = True,
    n_edges: int | None = None,
    n_front: int = 0,
    classes: Sequence[str] = ("rejected", "approved"),
    already: bool = False,
) -> Explanations:
    """Return a result for a schema with names of some kind.

    Parameters
    ----------
    names
        ``short``, ``long`` or ``odd``.
    n_features, n_ways, n_rows
        How many features there are, ways of each row, and rows.
    found
        Whether anything was found.
    n_edges
        How many edges the causal graph has; ``None`` for one into every second feature.
    n_front
        How many candidates the front has; 0 where none was kept.
    classes
        The names of the two classes.
    already
        Whether rows without a counterfactual have their target.
    """
    schema, frame = _world(names, n_features)
    codec = Codec.fit(schema, frame)
    edges = tuple(_edges(schema.names, n_edges))
    shared = context(
        codec=codec,
        classes=tuple(classes),
        edges=edges,
        spread=spread_of(codec, codec.encode(frame)),
    )
    items = [
        _explanation(shared, frame, row, n_ways if found else 0, edges, n_front, already)
        for row in range(n_rows)
    ]
    return Explanations(together(items), Layout.of(frame), provenance())


def _world(names: str, n_features: int) -> tuple[Schema, pd.DataFrame]:
    generator = np.random.default_rng(0)
    given = list(islice(cycle(NAMES[names]), n_features))
    unique = [name if name not in given[:at] else f"{name} {at}" for at, name in enumerate(given)]
    features: list[Any] = []
    columns: dict[str, Any] = {}
    for number, name in enumerate(unique):
        kind = number % 4
        levels = tuple(
            f"{word} of {name.strip()[:40] or 'it'}" for word in ("little", "some", "much")
        )
        if kind == 2:
            features.append(Categorical(name, levels))
            columns[name] = generator.choice(levels, _N_ROWS)
        elif kind == 3:
            features.append(Ordinal(name, levels))
            columns[name] = generator.choice(levels, _N_ROWS)
        else:
            unit = "€ a month" if kind else None
            features.append(Continuous(name, (0, 1_000_000), step=1 + 99 * kind, unit=unit))
            columns[name] = 100 * generator.integers(1, 9_000, _N_ROWS)
        if kind >= 2:  # every level is seen
            columns[name][:3] = levels
    return Schema(features), pd.DataFrame(columns)


def _edges(names: Sequence[str], n_edges: int | None) -> list[tuple[str, str]]:
    pairs = [(names[at // 2], name) for at, name in enumerate(names) if at % 2]
    if n_edges is None:
        return pairs
    further = [(one, other) for at, one in enumerate(names) for other in names[at + 2 :: 3]]
    return list(dict.fromkeys([*pairs, *further]))[:n_edges]


def _explanation(
    shared: Any, frame: pd.DataFrame, row: int, n_ways: int, edges: Any, n_front: int, already: bool
) -> Any:
    codec = shared.codec
    generator = np.random.default_rng(row)
    factual, raw = codec.encode(frame)[row], codec.raw_of_frame(frame)[row]
    effects = {effect for _, effect in edges}
    ways = [_way(codec.schema, frame, row, rank, effects) for rank in range(n_ways)]
    rows, changes, expected = changed_rows(codec, factual, ways)
    chances = np.array(0.62 + 0.3 * generator.random(n_ways), dtype=np.float64)
    losses = np.array(generator.random((n_ways, 3)), dtype=np.float64)
    losses[:, 0] = -np.log(chances)
    front = None
    if n_front and n_ways:
        rest = np.array(generator.random((n_front, 3)), dtype=np.float64)
        rest[:, 0] = -np.log(0.4 + 0.59 * rest[:, 2] + 0.01 * rest[:, 1])
        members = np.repeat(rows[:1], n_ways + n_front, axis=0)
        front = fronts_of_one(members, np.concatenate([losses, rest]))
    outcome = Outcome.ALREADY_TARGET if already and not n_ways else None
    return explained_row(
        *(shared, factual, raw, rows, changes, chances, losses),
        row=row,
        expected=expected,
        front=front,
        outcome=outcome,
    )


def _way(schema: Schema, frame: pd.DataFrame, row: int, rank: int, effects: set[str]) -> Way:
    """Return a way that changes every feature but each seventh: acts, holds, or follows."""
    way: dict[str, Any] = {}
    for number, feature in enumerate(schema):
        before = frame[feature.name].iloc[row]
        if number % 7 == 6:
            continue
        kind = "consequence" if feature.name in effects else "action"
        if isinstance(feature, Continuous):
            after = float(min(1_000_000, before + 100 * (1 + 7 * (number + rank) ** 2)))
            after = after if number % 3 else max(100.0, before - 200.0 * (1 + number))
        else:
            after = next(level for level in feature.levels if level != before)
        if kind == "consequence" and number % 5 == 3:
            way[feature.name] = ("hold", before, after)
        else:
            way[feature.name] = (kind, after)
    return way
