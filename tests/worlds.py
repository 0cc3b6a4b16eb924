"""Small worlds that tests share: people with a schema, and models of which the answers are known.

- The bank: people whose features have nothing to do with each other, judged by a plain score.
- The lender: applicants with a category, an order and a fixed feature, judged mostly by income.
- The students: skill is study and pay is twice the skill, each but for a person's own noise.

The settings let an explainer answer in a moment.
"""

from typing import Any

import numpy as np
import pandas as pd

from proce import Progress, SearchSettings
from proce.causal import Additive, CausalGraph
from proce.latent import AutoEncoderSettings
from proce.schema import Action, Categorical, Continuous, Ordinal, Schema
from proce.training_settings import TrainingSettings

QUICK = AutoEncoderSettings(training=TrainingSettings(n_epochs=3))
SETTINGS = SearchSettings(
    population_size=40, n_offspring=40, n_generations=15, n_refits=2, autoencoder=QUICK
)
TINY = SearchSettings(
    population_size=16, n_offspring=16, n_generations=6, n_refits=0, autoencoder=QUICK
)


def two_classes(yes: Any) -> Any:
    """Return the probabilities of no and yes, from those of yes."""
    yes = np.asarray(yes, dtype=float)
    return np.stack([1 - yes, yes], axis=1)


def logistic(score: Any) -> Any:
    """Return the probabilities of no and yes; yes is as likely as no at a score of 0."""
    return two_classes(1 / (1 + np.exp(-np.asarray(score, dtype=float))))


def never(frame: pd.DataFrame) -> Any:
    """Return no with nine chances in ten, for every row."""
    return two_classes(np.full(len(frame), 0.1))


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
    """Return what the bank looks at; above 0 it says yes."""
    owns = (frame["home"].astype(str) == "owns").astype(float)
    high = (frame["school"].astype(str) == "high").astype(float)
    return (frame["savings"] - frame["debt"]) / 25 + 0.5 * owns + 0.5 * high - 0.75


def bank(frame: pd.DataFrame) -> Any:
    """Return the bank's probabilities of no and yes."""
    return logistic(score(frame))


class WatchedBank:
    """The bank, which remembers every frame that it was asked about."""

    def __init__(self) -> None:
        self.frames: list[pd.DataFrame] = []

    def __call__(self, frame: pd.DataFrame) -> Any:
        self.frames.append(frame)
        return bank(frame)

    @property
    def sizes(self) -> list[int]:
        """How many rows each of the frames has."""
        return [len(frame) for frame in self.frames]


def lenient_bank(frame: pd.DataFrame) -> Any:
    """Return the bank's probabilities where cells may be missing: they count as nothing."""
    return bank(frame.fillna({"savings": 0, "debt": 0, "school": "none"}))


def refused(frame: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return the first few to whom the bank says no."""
    return frame[bank(frame)[:, 1] < 0.5].head(n)


def one(**values: Any) -> pd.DataFrame:
    """Return one person, of whom some values are given; by default the bank says no."""
    usual = {"age": 40, "savings": 20, "debt": 40, "school": "basic", "home": "rents"}
    return pd.DataFrame({name: [value] for name, value in (usual | values).items()})


JOBS = ("clerk", "driver", "nurse")
APPLICANT_SCHEMA = Schema(
    [
        Continuous("age", (18, 90), step=1, action=Action.INCREASE),
        Continuous("income", (0, 200)),
        Ordinal("school", ("none", "basic", "high")),
        Categorical("job", JOBS),
        Categorical("sex", ("f", "m"), action=Action.FIXED),
    ]
)


def applicants(n: int = 200, seed: int = 0) -> pd.DataFrame:
    """Return applicants; incomes are spread by 20 around 60."""
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": draw.integers(20, 70, n),
            "income": draw.normal(60, 20, n).clip(0, 150).round(2),
            "school": draw.choice(["none", "basic", "high"], n),
            "job": draw.choice(JOBS, n),
            "sex": draw.choice(["f", "m"], n),
        }
    )


def lender(frame: pd.DataFrame) -> Any:
    """Return the lender's probabilities of no and yes; what is missing counts as nothing."""
    income = frame["income"].fillna(0).to_numpy(float)
    high = (frame["school"].astype(str) == "high").to_numpy(float)
    nurse = (frame["job"].astype(str) == "nurse").to_numpy(float)
    return logistic((income - 65) / 8 + high + nurse - 0.7)


def decisions(frame: pd.DataFrame, seed: int = 1) -> Any:
    """Return labels "no" and "yes" for applicants, drawn with the lender's probabilities."""
    chance = np.random.default_rng(seed).random(len(frame))
    return np.where(chance < lender(frame)[:, 1], "yes", "no")


STUDY_GRAPH = CausalGraph([("study", "skill"), ("skill", "pay")])
STUDY_EQUATIONS = {
    "skill": Additive(lambda parents: parents["study"]),
    "pay": Additive(lambda parents: 2 * parents["skill"]),
}


def students(n: int = 200, seed: int = 0) -> pd.DataFrame:
    """Return students of :data:`STUDY_GRAPH`, with noise."""
    draw = np.random.default_rng(seed)
    study = draw.uniform(0, 10, n)
    skill = study + draw.normal(0, 0.5, n)
    return pd.DataFrame({"study": study, "skill": skill, "pay": 2 * skill + draw.normal(0, 1, n)})


def modest(frame: pd.DataFrame) -> Any:
    """Say yes to those who study much for the pay that they get."""
    return logistic(frame["study"] - 0.5 * frame["pay"] - 2)


def actions_of(result: Any) -> pd.DataFrame:
    """Return the changes that a person makes: actions and holds."""
    changes = result.changes()
    return changes[changes["kind"] != "consequence"]


def without_diagnosis(progress: Progress) -> bool:
    """Stop a call before it searches for what blocks: those searches are tested by themselves."""
    return progress.stage != "diagnose"
