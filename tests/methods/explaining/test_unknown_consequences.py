"""Equations that were given and cannot tell what follows from some changes."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import CausalGraph, Codec, Continuous, GraphError, ProCE, Schema
from proce.causal import StructuralCausalModel
from proce.schema import Action

from ...worlds import TINY, logistic

SCHEMA_OF_PAY = Schema([Continuous("years", step=1), Continuous("pay", action=Action.INDIRECT)])
FRAME = pd.DataFrame({"years": np.arange(60) % 10 * 2, "pay": np.arange(60) % 10 * 4.0 + 10})
ROW = FRAME[FRAME["years"] == 4].head(1)


def by_pay(frame: pd.DataFrame) -> Any:
    return logistic(frame["pay"] - 40)


def of_even_years(parents: Any) -> Any:
    return np.where(parents["years"] % 2 < 0.5, 2 * parents["years"], np.nan)


def model_of(pay: Any) -> StructuralCausalModel:
    codec = Codec.fit(SCHEMA_OF_PAY, FRAME)
    graph = CausalGraph([("years", "pay")])
    return StructuralCausalModel.fit(graph, codec.encode(FRAME), codec, equations={"pay": pay})


@pytest.fixture(scope="module")
def explainer() -> ProCE:
    return ProCE(by_pay, SCHEMA_OF_PAY, model_of(of_even_years), settings=TINY).fit(FRAME)


def test_nothing_is_advised_whose_consequences_are_unknown(explainer: ProCE) -> None:
    result = explainer.explain(ROW, n=4)
    assert result.outcomes()["outcome"].tolist() == ["found"]
    assert (result.counterfactuals()["years"] % 2 == 0).all()


def test_what_if_says_that_a_consequence_is_unknown(explainer: ProCE) -> None:
    assert explainer.what_if(ROW, {"years": 6}).consequences["pay"] == (18.0, 22.0)
    with pytest.raises(GraphError, match=r"what follows from changes for 'pay' is not known"):
        explainer.what_if(ROW, {"years": 7})


def test_a_causal_model_that_is_not_finite_on_the_rows_of_the_fit_is_refused() -> None:
    odd = FRAME.assign(years=FRAME["years"] + (FRAME.index < 3))
    with pytest.raises(GraphError, match=r"'pay' gives NaN .* for 3 of 60 training rows"):
        ProCE(by_pay, SCHEMA_OF_PAY, model_of(of_even_years), settings=TINY).fit(odd)


def test_so_is_an_equation_that_is_handed_over_with_a_saved_explainer(
    explainer: ProCE, tmp_path: Path
) -> None:
    folder = explainer.save(tmp_path / "saved", rows=True)
    equations = {"pay": of_even_years}
    assert ProCE.load(folder, by_pay, equations=equations).explain(ROW)[0].outcome == "found"
    with pytest.raises(GraphError, match=r"'pay' gives NaN .* for 60 of 60 training rows"):
        ProCE.load(folder, by_pay, equations={"pay": lambda parents: np.nan})
