"""Law: does a law student pass the bar examination at the first attempt?

LSAC National Longitudinal Bar Passage Study (L. Wightman, 1998), the table of M. Kusner,
J. Loftus, C. Russell, R. Silva, "Counterfactual fairness" (2017), as kept by DoWhy.
"""

from io import BytesIO

import pandas as pd

from proce.causal import CausalGraph
from proce.datasets.dataset import Dataset, edges_into, label_column, level_columns
from proce.datasets.fetch import DataFile, fetch
from proce.schema import Action, Categorical, Continuous, Schema

FILE = DataFile(
    "law/law_data.csv",
    "https://raw.githubusercontent.com/py-why/dowhy/18f5d4de225ea1a04ec8be1ca4af830875c08f99/"
    "docs/source/example_notebooks/datasets/law_data.csv",
    "934f04f595a9176e09f482e26ca51fde745be1cbd1f12cb6d6b706721dbb1aee",
    838_254,
)
RACES = (
    "White",
    "Black",
    "Asian",
    "Hispanic",
    "Mexican",
    "Other",
    "Puertorican",
    "Amerindian",
)
SEXES = {1: "female", 2: "male"}
SCHEMA = Schema(
    [
        Categorical("race", RACES, action=Action.FIXED),
        Categorical("sex", tuple(SEXES.values()), action=Action.FIXED),
        Continuous("LSAT", (10, 48), step=0.1, label="LSAT score", unit="points"),
        Continuous("UGPA", (0, 4.2), step=0.1, label="undergraduate grades"),
        Continuous("ZFYA", step=0.01, label="first-year grades"),
    ]
)
GRAPH = CausalGraph(
    edges_into(
        {
            "LSAT": ("race", "sex"),
            "UGPA": ("race", "sex"),
            "ZFYA": ("race", "sex", "LSAT", "UGPA"),
        }
    ),
    SCHEMA.names,
)


def load_law() -> Dataset:
    """Load Law: LSAT score, undergraduate grades (UGPA) and first-year grades (ZFYA).

    The graph is assumed, not known. The paper speaks of admission, but everyone in the table
    was admitted, so the label is ``first_pf``, with 89% ones. In ``recourse_schema`` the
    first-year grades are indirect: they follow from the others; race and sex are protected.
    """
    table = parse(fetch(FILE))
    return Dataset(
        name="law",
        frame=level_columns(table, SCHEMA),
        label=label_column("first_pf", table["first_pf"]),
        class_names=("failed", "passed"),
        schema=SCHEMA,
        recourse_schema=SCHEMA.edit("ZFYA", action=Action.INDIRECT).edit(
            ["race", "sex"], protected=True
        ),
        graph=GRAPH,
        rules=("LSAT, UGPA ~> ZFYA",),
    )


def parse(content: bytes) -> pd.DataFrame:
    """Read the published file, with the sexes as words."""
    table = pd.read_csv(BytesIO(content))
    return table.assign(sex=table["sex"].map(SEXES))
