"""The students again, in a world in which every measure can be worked out by hand.

In truth ``skill = study + u``; the model says yes where skill is above 5. Numbers run from 0 to
10, so a difference of 1 is 0.1 on the unit range.
"""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from proce.causal import CausalGraph, StructuralCausalModel
from proce.explanation import Context, Explanation, Explanations, Outcome
from proce.schema import Categorical, Codec, Continuous, Layout, Ordinal, Schema

from ..explained import BY_HAND, Way, changed_rows, explained_row, together
from ..worlds import STUDY_EQUATIONS, two_classes

TRAIN = pd.DataFrame(
    {
        "study": [0.0, 2, 4, 6, 10],
        "skill": [0.0, 3, 7, 8, 10],
        "city": ["a", "b", "b", "c", "a"],
        "grade": ["low", "low", "middle", "high", "high"],
    }
)


def schema(**actions: str) -> Schema:
    """Return the features; actions are by name."""
    return Schema(
        [
            Continuous("study", action=actions.get("study", "free")),
            Continuous("skill", action=actions.get("skill", "free")),
            Categorical("city", ("a", "b", "c")),
            Ordinal("grade", ("low", "middle", "high")),
        ]
    )


@dataclass(frozen=True)
class World:
    """Rows, truth and model; and explanations of whatever a test says was found."""

    train: pd.DataFrame = field(default_factory=TRAIN.copy)
    codec: Codec = field(default_factory=lambda: Codec.fit(schema(), TRAIN))

    @property
    def truth(self) -> StructuralCausalModel:
        graph = CausalGraph([("study", "skill")])
        return StructuralCausalModel(graph, {"skill": STUDY_EQUATIONS["skill"]}, self.codec)

    def schema(self, **actions: str) -> Schema:
        return schema(**actions)

    def model(self, above: float = 5.0):
        """Return a model that says class 1 where skill is above a value."""

        def probabilities(frame):
            return two_classes(frame["skill"] > above)

        return probabilities

    def row(self, study=2.0, skill=3.0, city="a", grade="low") -> np.ndarray:
        return self.codec.encode(
            pd.DataFrame({"study": [study], "skill": [skill], "city": [city], "grade": [grade]})
        )[0]

    def explained(self, *ways: Way, row=0, own=None, outcome=None, cost=0.0) -> Explanation:
        """Return what was found: for each way, by feature, the kind of change and the value."""
        factual = self.row() if own is None else own
        rows, changes, _ = changed_rows(self.codec, factual, ways)
        return explained_row(
            Context(self.codec, (0, 1), (0.5, 0.5)),
            factual,
            self.codec.to_raw(factual),
            rows,
            changes,
            np.ones(len(ways), dtype=np.float64),
            np.array([[0.0, 0.0, cost]] * len(ways), dtype=np.float64).reshape(-1, 3),
            row=row,
            probability=0.0,
            outcome=outcome,
        )

    def result(self, *items: Explanation) -> Explanations:
        rows = together(items) if items else self.explained().alone().head(0)
        return Explanations(rows, Layout.of(self.train), BY_HAND)

    def four_people(self) -> Explanations:
        """Return good advice and another way, none, none wanted, and advice that only hopes.

        In truth the last person's skill comes to 4, not to 8.
        """
        return self.result(
            self.explained(
                {"study": ("action", 6), "skill": ("consequence", 7)},
                {"skill": ("action", 8), "city": ("action", "b")},
                row=0,
            ),
            self.explained(row=1),
            self.explained(row=2, outcome=Outcome.ALREADY_TARGET),
            self.explained({"study": ("action", 3), "skill": ("consequence", 8)}, row=3),
        )
