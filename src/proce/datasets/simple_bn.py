"""Simple-BN: three numbers, one of them caused by the other two, and a label.

Equations and constants of D. Mahajan, C. Tan, A. Sharma, "Preserving causal constraints in
counterfactual explanations for machine learning classifiers" (2019, arXiv:1912.03277), as
in the generator script of their repository (divyat09/cf-feasibility).
"""

from functools import partial

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from proce.causal import Additive, CausalGraph, StructuralCausalModel, generate
from proce.causal.models.mechanism import Parents
from proce.datasets.dataset import Dataset, check_choice, check_draw, generated_frame, label_column
from proce.schema import Action, Codec, Continuous, Schema

MEAN_1, SD_1 = 50.0, 15.0
MEAN_2, SD_2 = 50.0, 17.0
K_3, B_3, SD_3 = 10 / 180**2, 10.0, 0.5
K_Y, B_Y = 10.5 / 8100, 10.0

GRAPH = CausalGraph([("x1", "x3"), ("x2", "x3")])
SCHEMA = Schema([Continuous("x1"), Continuous("x2"), Continuous("x3")])


def load_simple_bn(label: str = "threshold", n: int = 10_000, seed: int = 0) -> Dataset:
    """Draw Simple-BN.

    ``recourse_schema``: x3 is indirect; it follows x1 and x2.

    Parameters
    ----------
    label
        ``"threshold"``: 1 where the chance is above one half, as in the published file.
        ``"bernoulli"``: drawn with that chance, as in the paper; no classifier can then be
        right on more than about 60% of the rows.
    n, seed
        How many rows, and of which draw.
    """
    check_choice("simple_bn", "label", label, ("threshold", "bernoulli"))
    check_draw("simple_bn", n, seed)
    rng = np.random.default_rng(seed)
    mechanisms = {"x3": Additive(_third)}
    values = generate(
        GRAPH,
        mechanisms,
        SCHEMA,
        roots={
            "x1": torch.from_numpy(rng.normal(MEAN_1, SD_1, n)),
            "x2": torch.from_numpy(rng.normal(MEAN_2, SD_2, n)),
        },
        noise={"x3": torch.from_numpy(rng.normal(0.0, SD_3, (n, 1)))},
    )
    frame = generated_frame(values, SCHEMA)
    chance = chance_of_one(frame)
    drawn = chance > 0.5 if label == "threshold" else rng.random(n) < chance
    return Dataset(
        name="simple_bn",
        frame=frame,
        label=label_column("y", drawn),
        class_names=("0", "1"),
        schema=SCHEMA,
        recourse_schema=SCHEMA.edit("x3", action=Action.INDIRECT),
        graph=GRAPH,
        rules=("x1, x2 ~> x3",),
        truth=StructuralCausalModel(GRAPH, mechanisms, Codec.fit(SCHEMA, frame)),
        sampler=partial(load_simple_bn, label),
    )


def chance_of_one(frame: pd.DataFrame) -> NDArray[np.float64]:
    """Return the probability that a row's label is 1."""
    x1, x2, x3 = (frame[name].to_numpy() for name in ("x1", "x2", "x3"))
    return np.asarray(1 / (1 + np.exp(-(K_Y * x1 * x2 + B_Y - x3))))


def _third(parents: Parents) -> Tensor:
    return K_3 * (parents["x1"] + parents["x2"]).square() + B_3
