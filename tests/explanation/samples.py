"""Explanations made by hand: five applicants, and whatever a test says was found for them."""

import math
from typing import Any

import numpy as np
import pandas as pd

from proce.arrays import Array
from proce.explanation import (
    Blocker,
    Context,
    Diagnosis,
    Explanation,
    Explanations,
    Fronts,
    Outcome,
    Provenance,
)
from proce.explanation.record.counterfactuals import NO_RULE, OPEN_END_WORDS, Intervals
from proce.schema import Action, Categorical, Codec, Continuous, Layout, Ordinal, Schema

from ..explained import Way, changed_rows, explained_row, fronts_of_one, together

SCHEMA = Schema(
    [
        Continuous("savings", (0, 100_000), step=100),
        Continuous("ratio"),
        Ordinal("education", ("school", "bachelor", "master")),
        Categorical("job", ("service", "office", "none")),
        Categorical("owns_car", (False, True)),
        Continuous("amount", (0, 50_000), step=100),
        Continuous("credit_score", (300, 850), step=1, action=Action.INDIRECT),
        Categorical("sex", ("female", "male"), action=Action.FIXED),
    ]
)
EDGES = (("savings", "credit_score"), ("savings", "amount"), ("education", "job"))
RAISE_SAVINGS: Way = {
    "savings": ("action", 3_500),
    "credit_score": ("consequence", 655),
    "amount": ("hold", 25_500, 27_000),
}
CHANGE_JOB: Way = {"job": ("action", "office")}


def people() -> pd.DataFrame:
    """Return the applicants, with labels of their own."""
    return pd.DataFrame(
        {
            "savings": [2_000, 12_000, 700, 90_000, 0],
            "ratio": [0.31, 0.1 + 0.2, 1.0, 0.0, 0.5],
            "education": ["school", "bachelor", "master", "school", "bachelor"],
            "job": pd.Categorical(["service", "office", "none", "service", "office"]),
            "owns_car": [False, True, True, False, True],
            "amount": [25_500, 10_000, 3_000, 50_000, 1_000],
            "credit_score": [640, 700, 580, 810, 450],
            "sex": ["female", "male", "female", "male", "female"],
        },
        index=["ann", "bob", "cem", "dee", "eve"],
    )


CODEC = Codec.fit(SCHEMA, people())


def context(**fields: Any) -> Context:
    """Return what explanations share; fields replace those of a graph given by a person."""
    usual: dict[str, Any] = {
        "codec": CODEC,
        "classes": ("rejected", "approved"),
        "needed": (0.6, 0.6),
        "edges": EDGES,
        "origin": "given",
    }
    return Context(**usual | fields)


def explanation(
    *ways: Way,
    row: int = 0,
    shared: Context | None = None,
    frame: Any = None,
    probabilities: Any = None,
    losses: Any = None,
    **fields: Any,
) -> Explanation:
    """Return what was found for an applicant; fields are those of :func:`explained_row`."""
    frame = people() if frame is None else frame
    factual, raw = CODEC.encode(frame)[row], CODEC.raw_of_frame(frame)[row]
    rows, changes, expected = changed_rows(CODEC, factual, ways)
    chances = [0.62 + 0.1 * line for line in range(len(ways))]
    usual_losses = [[-math.log(chance), 0.01, 0.2 * rank] for rank, chance in enumerate(chances, 1)]
    return explained_row(
        shared or context(),
        factual,
        raw,
        rows,
        changes,
        chances if probabilities is None else probabilities,
        np.reshape(usual_losses, (-1, 3)) if losses is None else losses,
        row=row,
        expected=expected,
        **fields,
    )


def holds(**ends: tuple[float, float, str]) -> Intervals:
    """Return intervals of one counterfactual: by feature both ends, and which of them are open."""
    shape = (1, len(SCHEMA))
    low, high = (np.full(shape, math.nan, dtype=np.float64) for _ in range(2))
    open_ends = np.zeros(shape, dtype=np.int8)
    for name, (first, last, is_open) in ends.items():
        position = SCHEMA.position(name)
        low[0, position], high[0, position] = first, last
        open_ends[0, position] = OPEN_END_WORDS.index(is_open)
    return Intervals(low, high, open_ends)


def asked_by(**rules: int) -> Array:
    """Return for one counterfactual which rule asks for the actions on some features."""
    cells = np.full((1, len(SCHEMA)), NO_RULE)
    for name, rule in rules.items():
        cells[0, SCHEMA.position(name)] = rule
    return cells


def front(*ways: Way) -> Fronts:
    """Return a front of the first applicant."""
    rows = explanation(*ways).rows
    losses = [[0.1 * (3 - line), 0.02 / (line + 1), 0.1 * line] for line in range(len(ways))]
    return fronts_of_one(rows, np.array(losses, dtype=np.float64))


def diagnosis() -> Diagnosis:
    """Return why nothing was found for a person who may not lower the amount."""
    return Diagnosis(
        reason="Nothing was found: the rule 'cf.amount >= 3000' stands in the way.",
        closest_miss={"savings": 99_000.0, "job": "office", "ratio": None},
        probability=0.43,
        needed=0.6,
        broken=("cf.amount >= 3000",),
        blockers=(Blocker("rule", "cf.amount >= 3000", "without the rule", 0.12),),
        searched=7,
    )


def provenance() -> Provenance:
    """Return a record of how it came about."""
    return Provenance(
        versions={"proce": "0.1.0", "python": "3.11.2"},
        method="ProCE",
        seed=0,
        settings={"population_size": 100, "margin": 0.1},
        options={"n": 4, "ranges": {"amount": [0, 9]}},
        mode="hard",
        graph="given",
        training_rows=5,
        training_hash="0f" * 32,
        elapsed_seconds=1.25,
        generations=40,
        evaluations=4_000,
    )


def explanations(*items: Explanation, frame: Any = None) -> Explanations:
    """Return the explanations of a call."""
    frame = people() if frame is None else frame
    rows = together(items) if items else explanation().alone().head(0)
    return Explanations(rows, Layout.of(frame), provenance())


def everything(frame: Any = None, shared: Context | None = None) -> Explanations:
    """Return one row of each outcome."""
    frame = people() if frame is None else frame
    common: dict[str, Any] = {"frame": frame, "shared": shared or context()}
    return explanations(
        explanation(RAISE_SAVINGS, CHANGE_JOB, row=0, front=front(RAISE_SAVINGS), **common),
        explanation(row=1, outcome=Outcome.ALREADY_TARGET, probability=0.7, predicted=1, **common),
        explanation(row=2, diagnosis=diagnosis(), **common),
        explanation(row=3, outcome=Outcome.OUT_OF_TIME, **common),
        explanation({"ratio": ("action", 0.25)}, row=4, margin_met=False, **common),
        frame=frame,
    )
