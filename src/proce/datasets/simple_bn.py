"""Simple-BN: three numbers, one of them caused by the other two, and a label.

Equations and constants of D. Mahajan, C. Tan, A. Sharma, "Preserving causal constraints in
counterfactual explanations for machine learning classifiers" (2019, arXiv:1912.03277), as
in the generator script of their repository (divyat09/cf-feasibility).
"""

from functools import partial

import numpy as np
import pandas as pd

from proce.arrays import Array, Floats
from proce.causal import Additive, CausalGraph, StructuralCausalModel, generate
from proce.causal.equations.terms import Parents
from proce.compiled.elementary import logistics
from proce.datasets.dataset import Dataset, check_choice, check_draw, generated_frame, label_column
from proce.schema import Action, Codec, Continuous, Schema

X1_MEAN, X1_SD = 50.0, 15.0
X2_MEAN, X2_SD = 50.0, 17.0
X3_SLOPE, X3_INTERCEPT, X3_SD = 10 / 180**2, 10.0, 0.5
LABEL_SLOPE, LABEL_INTERCEPT = 10.5 / 8100, 10.0

GRAPH = CausalGraph([("x1", "x3"), ("x2", "x3")])
SCHEMA = Schema([Continuous("x1"), Continuous("x2"), Continuous("x3")])


def load_simple_bn(label: str = "threshold", n: int = 10_000, seed: int = 0) -> Dataset:
    """Draw Simple-BN.

    In ``recourse_schema`` x3 is indirect: it follows from x1 and x2.
    """
    check_choice("simple_bn", "label", label, ("threshold", "bernoulli"))
    check_draw("simple_bn", n, seed)
    rng = np.random.default_rng(seed)
    mechanisms = {"x3": Additive(_x3)}
    values = generate(
        GRAPH,
        mechanisms,
        SCHEMA,
        roots={
            "x1": rng.normal(X1_MEAN, X1_SD, n),
            "x2": rng.normal(X2_MEAN, X2_SD, n),
        },
        noise={"x3": rng.normal(0.0, X3_SD, (n, 1))},
    )
    frame = generated_frame(values, SCHEMA)
    chance = chance_of_one(frame)
    labels = chance > 0.5 if label == "threshold" else rng.random(n) < chance
    return Dataset(
        name="simple_bn",
        frame=frame,
        label=label_column("y", labels),
        class_names=("0", "1"),
        schema=SCHEMA,
        recourse_schema=SCHEMA.edit("x3", action=Action.INDIRECT),
        graph=GRAPH,
        rules=("x1, x2 ~> x3",),
        truth=StructuralCausalModel(GRAPH, mechanisms, Codec.fit(SCHEMA, frame)),
        sampler=partial(load_simple_bn, label),
    )


def chance_of_one(frame: pd.DataFrame) -> Floats:
    """Return the probability that a row's label is 1."""
    x1, x2, x3 = (frame[name].to_numpy() for name in ("x1", "x2", "x3"))
    return logistics(LABEL_SLOPE * x1 * x2 + LABEL_INTERCEPT - x3)


def _x3(parents: Parents) -> Array:
    return X3_SLOPE * np.square(parents["x1"] + parents["x2"]) + X3_INTERCEPT
