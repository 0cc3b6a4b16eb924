"""Small data, quick models and settings that take a moment; and what must hold of every answer."""

from typing import Any

import numpy as np
import pandas as pd

from proce import Progress, SearchSettings
from proce.latent import AutoEncoderSettings
from proce.schema import Action, Categorical, Continuous, Ordinal, Schema
from proce.training import TrainingSettings

QUICK = AutoEncoderSettings(training=TrainingSettings(n_epochs=3))
SETTINGS = SearchSettings(
    population_size=40, n_offspring=40, n_generations=15, n_refits=2, autoencoder=QUICK
)
TINY = SearchSettings(
    population_size=16, n_offspring=16, n_generations=6, n_refits=0, autoencoder=QUICK
)
SCHEMA = Schema(
    [
        Continuous("age", (18, 90), step=1, action=Action.INCREASE),
        Continuous("savings", (0, 100), step=1),
        Continuous("debt", (0, 100), step=1, action=Action.DECREASE),
        Ordinal("school", ("none", "basic", "high")),
        Categorical("home", ("rents", "owns"), action=Action.FIXED),
    ]
)


def people(n: int = 300, seed: int = 0) -> pd.DataFrame:
    """Return people whose features have nothing to do with each other."""
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": draw.integers(20, 80, n),
            "savings": draw.integers(0, 100, n),
            "debt": draw.integers(0, 100, n),
            "school": draw.choice(["none", "basic", "high"], n),
            "home": draw.choice(["rents", "owns"], n),
        }
    )


def score(frame: pd.DataFrame) -> "pd.Series[float]":
    """Return what a bank looks at; above 0 it says yes."""
    owns = (frame["home"].astype(str) == "owns").astype(float)
    high = (frame["school"].astype(str) == "high").astype(float)
    return (frame["savings"] - frame["debt"]) / 25 + 0.5 * owns + 0.5 * high - 0.75


def bank(frame: pd.DataFrame) -> Any:
    """Return the probabilities of no and yes."""
    yes = 1 / (1 + np.exp(-score(frame).to_numpy(float)))
    return np.stack([1 - yes, yes], axis=1)


def refused(frame: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return the first few to whom the bank says no."""
    return frame[bank(frame)[:, 1] < 0.5].head(n)


def one(**values: Any) -> pd.DataFrame:
    """Return one person, of whom some values are given."""
    usual = {"age": 40, "savings": 20, "debt": 40, "school": "basic", "home": "rents"}
    return pd.DataFrame({name: [value] for name, value in (usual | values).items()})


def actions_of(result: Any) -> pd.DataFrame:
    """Return the changes that a person makes: actions and holds."""
    changes = result.changes()
    return changes[changes["kind"] != "consequence"]


def without_diagnosis(progress: Progress) -> bool:
    """Stop a call before it searches for what blocks: those searches are tested by themselves."""
    return progress.stage != "diagnose"
