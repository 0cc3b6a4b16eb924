"""A model of three classes, and a feature that is one-hot over several columns."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import ProCE
from proce.schema import Categorical, Continuous, Schema
from proce.server.explainer_api.api import ExplainerApi
from proce.server.explainer_api.errors import RequestError

from ...worlds import TINY

COLUMNS = ("is red", "is green")
SCHEMA = Schema(
    [Continuous("size", (0, 10)), Categorical("colour", ("red", "green"), one_hot=COLUMNS)]
)


def frame_of(n: int) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    red = draw.random(n) < 0.5
    size = draw.uniform(0, 10, n).round(1)
    return pd.DataFrame({"size": size, "is red": red * 1, "is green": ~red * 1})


def by_size(frame: pd.DataFrame) -> Any:
    """Return the chances of small, middle and large; red things seem larger."""
    size = frame["size"].to_numpy(float) + frame["is red"].to_numpy(float)
    scores = np.stack([4 - size, np.ones_like(size), size - 6], axis=1)
    chances = np.exp(scores - scores.max(1, keepdims=True))
    return chances / chances.sum(1, keepdims=True)


@pytest.fixture(scope="module")
def api() -> ExplainerApi:
    return ExplainerApi(ProCE(by_size, SCHEMA, settings=TINY).fit(frame_of(200)))


ROW = {"size": 1.0, "colour": "green"}


def test_a_target_has_to_be_named_and_the_likeliest_class_counts(api: ExplainerApi) -> None:
    with pytest.raises(RequestError, match="none is 'the other'") as caught:
        api.check({"rows": [ROW]})
    assert caught.value.field == "target"
    request = {"rows": [ROW], "target": 2}
    api.check(request)
    ways = api.ways(api.explain(request)["results"]["auditor"], request)
    assert ways["outcome"] == "found"
    assert ways["decision"]["needed"] is None
    assert "ahead of every other class" in ways["decision"]["sentence"]


def test_without_a_target_the_decision_itself_is_told(api: ExplainerApi) -> None:
    answer = api.what_if(row=ROW, changes={"size": 9.5})
    assert (answer["before"]["target"], answer["before"]["prediction"]) == (0, 0)
    assert answer["after"]["prediction"] == 2
    assert answer["before"]["needed"] is None
    chances = [own["probability"] for own in answer["after"]["probabilities"]]
    assert sum(chances) == pytest.approx(1)


def test_a_one_hot_feature_is_one_value(api: ExplainerApi) -> None:
    assert [feature["name"] for feature in api.schema()["features"]] == ["size", "colour"]
    assert api.what_if(row=ROW, changes={"colour": "red"})["row"] == {**ROW, "colour": "red"}
    assert api.parse_row("size,is red,is green\n1.0,0,1")["values"] == ROW
    assert api.parse_row("1.0;0;1")["values"] == ROW
    for flags in ("1, 1", "1, 2", "true, 0"):
        with pytest.raises(RequestError, match=f"'{flags}' is no level of 'colour'"):
            api.parse_row(f"1.0,{flags}")
