"""What each action adds: the model is asked again with that action taken back, by hand here."""

import numpy as np
import pandas as pd
import pytest

from proce import CausalGraph, ProCE, StructuralCausalModel
from proce.explanation import Change, Explanations
from proce.schema import Codec, Continuous, Schema

from ...worlds import (
    SCHEMA,
    SETTINGS,
    bank,
    logistic,
    one,
    people,
    refused,
    students,
)


def studious(frame: pd.DataFrame) -> np.ndarray:
    """Say yes to those who study much, and are paid no less for it."""
    return logistic(frame["study"] + 0.1 * frame["pay"] - 6)


def taken_back(result: Explanations, rank: int, name: str) -> pd.DataFrame:
    """Return a counterfactual with one feature as it was."""
    frame = result.counterfactuals().iloc[[rank]].copy()
    frame[name] = one()[name].to_numpy()
    return frame


def test_without_a_graph_the_cell_alone_is_taken_back(banker: ProCE) -> None:
    result = banker.explain(one(), n=3)
    assert len(result[0]) == 3
    for rank in range(3):
        for position, name in enumerate(SCHEMA.names):
            added = result[0].contributions[rank, position].item()
            if result[0].changes[rank, position] != Change.ACTION:
                assert added == 0
                continue
            without = bank(taken_back(result, rank, name))[0, 1]
            assert added == pytest.approx(result[0].probabilities[rank].item() - without)
    assert result[0].refits is None
    assert result.context.n_refits == 0


def test_what_follows_is_taken_back_too() -> None:
    """Debt is 60 less savings, but for each person's own difference: both move back together."""
    frame = people()
    codec = Codec.fit(SCHEMA, frame)
    graph = CausalGraph([("savings", "debt")])
    scm = StructuralCausalModel.fit(
        graph,
        codec.encode(frame),
        codec,
        equations={"debt": lambda parents: 60 - parents["savings"]},
    )
    explainer = ProCE(bank, schema=SCHEMA, graph=scm, settings=SETTINGS).fit(frame)
    result = explainer.explain(one(), n=1, vary=["savings"])
    kinds = dict(zip(SCHEMA.names, result[0].changes[0].tolist(), strict=True))
    assert (kinds["savings"], kinds["debt"]) == (Change.ACTION, Change.CONSEQUENCE)
    position = SCHEMA.position("savings")
    expected = result[0].probabilities[0].item() - bank(one())[0, 1]  # nothing else was done
    assert result[0].contributions[0, position].item() == pytest.approx(expected)
    assert np.count_nonzero(result[0].contributions) == 1


def test_refits_are_counted_and_the_rows_do_not_depend_on_their_batch() -> None:
    graph = [("savings", "debt")]
    explainer = ProCE(bank, schema=SCHEMA, graph=graph, settings=SETTINGS).fit(people())
    many = explainer.explain(refused(people(), 4), n=2)
    assert many.context.n_refits == SETTINGS.n_refits == 2
    for row, item in enumerate(many):
        assert len(item)
        assert item.refits.shape == (len(item),)
        assert (item.refits <= 2).all()
        assert (item.confidence >= 0.5).all()  # or it would not have been shown
        alone = explainer.explain(refused(people(), 4).iloc[[row]], n=2)[0]
        assert np.array_equal(alone.contributions, item.contributions)
        assert np.array_equal(alone.confidence, item.confidence)


def test_how_sure_advice_is_cannot_be_told_where_what_follows_goes_through_a_missing_cell() -> None:
    """Pay follows study through skill: without skill it stays as it is in every refit."""
    schema = Schema([Continuous("study", (0, 20)), Continuous("skill"), Continuous("pay")])
    frame = students()
    frame.loc[:19, "skill"] = np.nan
    graph = [("study", "skill"), ("skill", "pay")]
    explainer = ProCE(studious, schema=schema, graph=graph, settings=SETTINGS).fit(frame)
    asked = frame.iloc[[0, 30]].assign(study=1.0)
    result = explainer.explain(asked, vary=["study"], n=1)
    assert result.outcomes()["confidence"].isna().tolist() == [True, False]
    of_first = result.changes()["row"] == 0
    assert result.changes()["feature"][of_first].tolist() == ["study"]  # not that skill "follows"
    told = (
        "How sure this advice is cannot be told: skill is missing, and what would"
        " follow depends on it."
    )
    assert [told in item.sentences() for item in result] == [True, False]


def test_how_the_training_rows_lie_comes_with_the_result(banker: ProCE) -> None:
    spread = banker.explain(one(), n=1).context.spread
    assert spread["age"][0] == people()["age"].min()
    assert spread["age"][-1] == people()["age"].max()
    shares = people()["home"].value_counts(normalize=True)
    assert spread["home"] == pytest.approx((shares["rents"], shares["owns"]))
