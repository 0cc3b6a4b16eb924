"""Propagate a million candidates through a graph of Adult's size, beside hand-written torch.

Run: ``python benchmarks/causal.py``. Target: at most 3 times the time of the same matrix
products written out by hand, in one call.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch.nn.functional import one_hot

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


def by_hand(scm: StructuralCausalModel, rows: Tensor, residual: Tensor, acted_on: Tensor) -> Tensor:
    """The same equations as matrix products on one-hot columns."""
    age, gender, race, education, occupation, hours = range(6)
    weights = {name: scm.mechanisms[name].predict.weights for name in scm.mechanisms}
    out = rows.clone()
    residual = residual[:, None, :]
    sexes = one_hot(rows[..., gender].long(), 2).double()
    races = one_hot(rows[..., race].long(), 2).double()

    w = weights["education"]
    design = torch.cat([rows[..., age, None], sexes, races], dim=-1)
    rank = (design @ w[1:] + w[0] + residual[..., 0]).round().clamp(0, 7)
    out[..., education] = torch.where(acted_on[..., education], rows[..., education], rank)

    school = out[..., education, None] / 7
    w = weights["occupation"]
    level = (school @ w[1:] + w[0] + residual[..., 1:7]).argmax(-1).double()
    out[..., occupation] = torch.where(acted_on[..., occupation], rows[..., occupation], level)

    w = weights["hours"]
    design = torch.cat([rows[..., age, None], sexes, school], dim=-1)
    value = design @ w[1:] + w[0] + residual[..., 7]
    out[..., hours] = torch.where(acted_on[..., hours], rows[..., hours], value)
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
    torch.set_num_threads(1)
    frame = people(30_000)
    codec = Codec.fit(Schema.infer(frame), frame)
    rows = codec.encode(frame).contiguous()
    graph = CausalGraph(EDGES, nodes=codec.schema.names)
    scm = StructuralCausalModel.fit(graph, rows, codec, mechanism="linear")
    factual = rows[:INSTANCES]
    residual = scm.abduct(factual)
    generator = torch.Generator().manual_seed(0)
    positions = torch.randint(len(rows), (INSTANCES, CANDIDATES), generator=generator)
    candidates = rows[positions]
    acted_on = torch.rand(candidates.shape, generator=generator) < 0.3

    expected = by_hand(scm, candidates, residual, acted_on)
    torch.testing.assert_close(scm.propagate(candidates, residual, acted_on), expected)
    ours = seconds(lambda: scm.propagate(candidates, residual, acted_on))
    theirs = seconds(lambda: by_hand(scm, candidates, residual, acted_on))
    separating = seconds(lambda: scm.actions(factual, candidates, residual))
    print(f"{INSTANCES * CANDIDATES:,} candidates, 8 features, 3 equations, one thread")
    print("| propagate, s | by hand, s | ratio (at most 3) | separating actions, s |")
    print("|---|---|---|---|")
    print(f"| {ours:.3f} | {theirs:.3f} | {ours / theirs:.2f} | {separating:.3f} |")


if __name__ == "__main__":
    main()
