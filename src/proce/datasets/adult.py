"""Adult: does a person earn more than 50,000 dollars a year? (US census of 1994)

B. Becker, R. Kohavi, "Adult", UCI Machine Learning Repository, 1996,
https://doi.org/10.24432/C5XW20, CC BY 4.0. The grouping of levels is that of DiCE (MIT).
"""

from io import BytesIO

import pandas as pd

from proce.causal import CausalGraph
from proce.datasets.dataset import Dataset, check_choice, edges_into, label_column, level_columns
from proce.datasets.fetch import DataFile, fetch
from proce.schema import Action, Categorical, Continuous, Feature, Ordinal, Schema


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


GROUPS = {
    "workclass": {
        "Government": ("Federal-gov", "State-gov", "Local-gov"),
        "Self-Employed": ("Self-emp-inc", "Self-emp-not-inc"),
        "Other/Unknown": ("Without-pay", "Never-worked", "?"),
    },
    "education": {
        "Assoc": ("Assoc-voc", "Assoc-acdm"),
        "School": _words("Preschool 1st-4th 5th-6th 7th-8th 9th 10th 11th 12th"),
    },
    "marital_status": {
        "Married": ("Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"),
        "Single": ("Never-married",),
    },
    "occupation": {
        "White-Collar": ("Adm-clerical", "Exec-managerial"),
        "Blue-Collar": _words(
            "Craft-repair Farming-fishing Handlers-cleaners Machine-op-inspct Transport-moving"
        ),
        "Service": ("Other-service", "Priv-house-serv", "Protective-serv", "Tech-support"),
        "Professional": ("Prof-specialty",),
        "Other/Unknown": ("Armed-Forces", "?"),
    },
}

GROUPED = {
    "workclass": ("Private", "Government", "Self-Employed", "Other/Unknown"),
    "education": _words(
        "School HS-grad Some-college Assoc Bachelors Masters Prof-school Doctorate"
    ),
    "marital_status": ("Single", "Married", "Divorced", "Separated", "Widowed"),
    "occupation": _words("White-Collar Blue-Collar Service Professional Sales Other/Unknown"),
}

RAW = {
    "workclass": _words(
        "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay"
        " Never-worked"
    ),
    "education": _words(  # by education_num
        "Preschool 1st-4th 5th-6th 7th-8th 9th 10th 11th 12th HS-grad Some-college Assoc-voc"
        " Assoc-acdm Bachelors Masters Prof-school Doctorate"
    ),
    "marital_status": _words(
        "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent"
        " Married-AF-spouse"
    ),
    "occupation": _words(
        "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty"
        " Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing Transport-moving"
        " Priv-house-serv Protective-serv Armed-Forces"
    ),
    "relationship": _words("Wife Own-child Husband Not-in-family Other-relative Unmarried"),
    "race": ("White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"),
}

COUNTRIES = _words(
    "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India"
    " Japan Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico"
    " Portugal Ireland France Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary"
    " Guatemala Nicaragua Scotland Thailand Yugoslavia El-Salvador Trinadad&Tobago Peru Hong"
    " Holand-Netherlands"
)

_SOURCE = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult"
FILES = {
    "train": DataFile(
        "adult/adult.data",
        f"{_SOURCE}/adult.data",
        "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        3_974_305,
    ),
    "test": DataFile(
        "adult/adult.test",
        f"{_SOURCE}/adult.test",
        "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
        2_003_153,
    ),
}
COLUMNS = _words(
    "age workclass fnlwgt education education_num marital_status occupation relationship race"
    " gender capital_gain capital_loss hours_per_week native_country income"
)
EDGES = edges_into(
    {
        "education": ("age", "gender", "race"),
        "occupation": ("education",),
        "hours_per_week": ("age", "gender", "education"),
    }
)
UNKNOWN = "Other/Unknown"  # a level that nobody is advised to have
RULES = (
    "cf.age >= x.age",
    "cf.education > x.education => cf.age > x.age",
    "cf.education >= x.education",
)


def load_adult(version: str = "grouped", part: str = "train") -> Dataset:
    """Load Adult.

    The graph is assumed, not known. In ``recourse_schema`` marital status (and in the full
    version the relationship in the household) is fixed, since nobody is to be told to marry; age
    waits; ``education_num`` is indirect, because it is the rank of ``education``; all else can be
    acted on. Race and gender are protected, and nobody is advised to become unknown. In the full
    version the country of birth and the census weight are fixed in both schemas.
    """
    check_choice("adult", "version", version, ("grouped", "full"))
    check_choice("adult", "part", part, ("train", "test", "all"))
    parts = list(FILES) if part == "all" else [part]
    table = pd.concat([parse(fetch(FILES[name])) for name in parts], ignore_index=True)
    schema = _grouped_schema() if version == "grouped" else _full_schema()
    frame = grouped(table) if version == "grouped" else table.replace("?", None)
    edges = EDGES if version == "grouped" else [*EDGES, ("education", "education_num")]
    return Dataset(
        name="adult",
        frame=level_columns(frame, schema),
        label=label_column("income", table["income"] == ">50K"),
        class_names=("at most 50K", "more than 50K"),
        schema=schema,
        recourse_schema=_recourse_schema(schema),
        graph=CausalGraph(edges, schema.names),
        rules=RULES,
    )


def parse(content: bytes) -> pd.DataFrame:
    """Read a published file; ``?``, which stands for an unknown value, stays as it is."""
    # The test file begins with a comment.
    start = content.index(b"\n") + 1 if content.startswith(b"|") else 0
    table = pd.read_csv(
        BytesIO(content[start:]),
        names=list(COLUMNS),
        skipinitialspace=True,
        keep_default_na=False,
    )
    table["income"] = table["income"].str.removesuffix(".")
    return table


def grouped(table: pd.DataFrame) -> pd.DataFrame:
    """Return the published table with DiCE's groups; levels in no group keep their names."""
    groups = {
        name: table[name].replace({level: group for group, own in groups.items() for level in own})
        for name, groups in GROUPS.items()
    }
    race = table["race"].where(table["race"] == "White", "Other")
    return table.assign(**groups, race=race)


AGE = Continuous("age", (17, 90), step=1, action=Action.INCREASE, unit="years")
GENDER = Categorical("gender", ("Female", "Male"), action=Action.FIXED)
HOURS = Continuous("hours_per_week", (1, 99), step=1, label="working week", unit="hours")


def _grouped_schema() -> Schema:
    return Schema(
        [
            AGE,
            Categorical("workclass", GROUPED["workclass"], label="kind of employer"),
            Ordinal("education", GROUPED["education"]),
            Categorical("marital_status", GROUPED["marital_status"]),
            Categorical("occupation", GROUPED["occupation"]),
            Categorical("race", ("White", "Other"), action=Action.FIXED),
            GENDER,
            HOURS,
        ]
    )


def _full_schema() -> Schema:
    own: list[Feature] = [
        AGE,
        Continuous("fnlwgt", step=1, action=Action.FIXED, label="census weight"),
        Ordinal("education", RAW["education"]),
        Continuous("education_num", (1, 16), step=1, label="rank of education"),
        Categorical("race", RAW["race"], action=Action.FIXED),
        GENDER,
        Continuous("capital_gain", (0, 99_999), step=1, unit="$"),
        Continuous("capital_loss", (0, 4_356), step=1, unit="$"),
        HOURS,
        Categorical("native_country", COUNTRIES, action=Action.FIXED),
    ]
    features = {feature.name: feature for feature in own}
    return Schema(features.get(name) or Categorical(name, RAW[name]) for name in COLUMNS[:-1])


def _recourse_schema(schema: Schema) -> Schema:
    actions = {
        "age": Action.WAITS,
        "marital_status": Action.FIXED,
        "relationship": Action.FIXED,
        "education_num": Action.INDIRECT,
    }
    for name in set(actions).intersection(schema.names):
        schema = schema.edit(name, action=actions[name])
    for feature in schema:
        if not isinstance(feature, Continuous) and UNKNOWN in feature.levels:
            schema = schema.edit(feature.name, avoid=(UNKNOWN,))
    return schema.edit(["race", "gender"], protected=True)
