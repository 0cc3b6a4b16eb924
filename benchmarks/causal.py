"""Propagate a million candidates through a graph of Adult's size, beside hand-written NumPy.

Run: ``python benchmarks/causal.py``. Target: at most 3 times the time of the same matrix
products written out by hand, in one call.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from proce.arrays import Array
from proce.causal import CausalGraph, StructuralCausalModel
from proce.schema import Codec, Schema

INSTANCES, CANDIDATES, REPEATS = 10_000, 100, 5
SCHOOLS = ["School", "HS-grad", "Some-college", "Assoc", "Bachelors", "Masters", "Prof", "Doctor"]
JOBS = ["White-Collar", "Blue-Collar", "Service", "Professional", "Sales", "Other"]
EDGES = [
    *[(cause, "education") for cause in ("age", "gender", "race")],
    ("education", "occupation"),
    *[(cause, "hours") for cause in ("age", "gender", "education")],
]


def people(n: int) -> pd.DataFrame:
    """Eight features with Adult's types and causes."""
    draw = np.random.default_rng(0)
    age = draw.integers(17, 90, n)
    school = np.clip((age - 17) / 12 + draw.normal(0, 2, n), 0, 7).round().astype(int)
    frame = pd.DataFrame({"age": age, "gender": draw.choice(["Male", "Female"], n)})
    frame["race"] = draw.choice(["White", "Other"], n)
    frame["education"] = pd.Categorical.from_codes(school, SCHOOLS, ordered=True)
    frame["occupation"] = draw.choice(JOBS, n)
    frame["hours"] = np.clip(40 + school + draw.normal(0, 8, n), 1, 99).round().astype(int)
    frame["workclass"] = draw.choice(["Private", "Government", "Other"], n)
    frame["marital"] = draw.choice(["Single", "Married", "Divorced"], n)
    return frame


def by_hand(scm: StructuralCausalModel, rows: Array, residual: Array, acted_on: Array) -> Array:
    """The same equations as matrix products on one-hot columns."""
    age, gender, race, education, occupation, hours = range(6)
    weights = {name: scm.mechanisms[name].predict.weights for name in scm.mechanisms}
    out = rows.copy()
    residual = residual[:, None, :]
    sexes = np.eye(2)[rows[..., gender].astype(int)]
    races = np.eye(2)[rows[..., race].astype(int)]

    w = weights["education"]
    design = np.concatenate([rows[..., age, None], sexes, races], axis=-1)
    rank = (design @ w[1:] + w[0] + residual[..., 0]).round().clip(0, 7)
    out[..., education] = np.where(acted_on[..., education], rows[..., education], rank)

    school = out[..., education, None] / 7
    w = weights["occupation"]
    level = (school @ w[1:] + w[0] + residual[..., 1:7]).argmax(-1)
    out[..., occupation] = np.where(acted_on[..., occupation], rows[..., occupation], level)

    w = weights["hours"]
    design = np.concatenate([rows[..., age, None], sexes, school], axis=-1)
    value = design @ w[1:] + w[0] + residual[..., 7]
    out[..., hours] = np.where(acted_on[..., hours], rows[..., hours], value)
    return out


def seconds(work: Callable[[], object]) -> float:
    """Return the median CPU time of a few calls, after one to warm up."""
    work()
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def main() -> None:
    """Measure and print."""
    frame = people(30_000)
    codec = Codec.fit(Schema.infer(frame), frame)
    rows = np.ascontiguousarray(codec.encode(frame))
    graph = CausalGraph(EDGES, nodes=codec.schema.names)
    scm = StructuralCausalModel.fit(graph, rows, codec, mechanism="linear")
    factual = rows[:INSTANCES]
    residual = scm.abduct(factual)
    draw = np.random.default_rng(0)
    positions = draw.integers(0, len(rows), (INSTANCES, CANDIDATES))
    candidates = rows[positions]
    acted_on = draw.random(candidates.shape) < 0.3

    expected = by_hand(scm, candidates, residual, acted_on)
    np.testing.assert_allclose(scm.propagate(candidates, residual, acted_on), expected)
    ours = seconds(lambda: scm.propagate(candidates, residual, acted_on))
    theirs = seconds(lambda: by_hand(scm, candidates, residual, acted_on))
    separating = seconds(lambda: scm.actions(factual, candidates, residual))
    print(f"{INSTANCES * CANDIDATES:,} candidates, 8 features, 3 equations, one thread")
    print("| propagate, s | by hand, s | ratio (at most 3) | separating actions, s |")
    print("|---|---|---|---|")
    print(f"| {ours:.3f} | {theirs:.3f} | {ours / theirs:.2f} | {separating:.3f} |")


if __name__ == "__main__":
    main()
