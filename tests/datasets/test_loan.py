"""Loan: rows that a person believes, a label that a model can learn, causes that matter."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from proce.datasets import Dataset, load_dataset
from proce.datasets.loan import INDIRECT, chance_of_approval
from proce.schema import Action

Model = HistGradientBoostingClassifier


@pytest.fixture(scope="module")
def loan() -> Dataset:
    return load_dataset("loan")


@pytest.fixture(scope="module")
def model(loan: Dataset) -> Model:
    train = load_dataset("loan", seed=1)
    return Model(max_depth=4, random_state=0).fit(train.frame, train.label)


def test_no_row_is_absurd(loan: Dataset) -> None:
    frame = loan.frame
    youngest = frame.groupby("education", observed=True)["age"].min()
    assert youngest["bachelor"] >= 22
    assert youngest["master"] >= 24
    assert youngest["doctorate"] >= 27
    assert frame["age"].between(18, 72).all()
    assert (frame["years_employed"] <= frame["age"] - 17).all()
    schooled = frame["education"] >= "some college"
    assert schooled[frame["job"] == "professional"].mean() > 0.99
    assert frame["income"].between(10_000, 300_000).all()
    assert (frame["debt"] <= 2 * frame["income"]).all()
    assert (frame["amount"] <= 1.5 * frame["income"]).mean() > 0.995
    assert frame["credit_score"].between(300, 850).all()
    assert frame["duration"].between(12, 84).all()


def test_values_are_as_round_as_people_write_them(loan: Dataset) -> None:
    for name in ("income", "savings", "debt", "amount"):
        assert (loan.frame[name] % 100 == 0).all()
    assert (loan.frame["duration"] % 6 == 0).all()
    assert loan.frame["age"].dtype.kind == "i"


def test_the_margins_are_plausible(loan: Dataset) -> None:
    frame = loan.frame
    assert 35_000 < frame["income"].median() < 65_000
    assert 650 < frame["credit_score"].median() < 720
    assert 0.05 < (frame["debt"] == 0).mean() < 0.2
    assert frame["job"].value_counts(normalize=True).min() > 0.04
    pay = frame.groupby("education", observed=True)["income"].median()
    assert pay.is_monotonic_increasing
    assert frame["savings"].corr(frame["age"], method="spearman") > 0.2


def test_most_are_approved_and_a_model_can_learn_why(loan: Dataset, model: Model) -> None:
    assert 0.55 < loan.label.mean() < 0.7
    assert 0.85 < roc_auc_score(loan.label, model.predict_proba(loan.frame)[:, 1]) < 0.95
    assert roc_auc_score(loan.label, chance_of_approval(loan.frame)) < 0.97


def test_without_an_action_everybody_stays(loan: Dataset) -> None:
    assert loan.truth is not None
    factual = loan.truth.codec.encode(loan.frame)
    nobody = np.zeros(len(loan.schema), dtype=np.bool_)
    rows = loan.truth.propagate(factual, loan.truth.abduct(factual), nobody)
    np.testing.assert_allclose(rows, factual, rtol=1e-12, atol=1e-12)
    assert loan.truth.codec.decode(rows).equals(loan.frame)


def test_the_noise_is_as_it_was_drawn(loan: Dataset) -> None:
    """Abduction undoes generation: amounts have log-normal noise of the drawn width."""
    assert loan.truth is not None
    noise = loan.truth.abduct(loan.truth.codec.encode(loan.frame))
    names = [name for name in loan.graph.endogenous if name != "job"]
    columns = noise[:, 7:].T  # 7 jobs stand first
    widths = {
        name: column[np.isfinite(column)].std() for name, column in zip(names, columns, strict=True)
    }
    assert loan.graph.endogenous[0] == "job"
    assert widths["income"] == pytest.approx(0.22, rel=0.05)
    assert widths["savings"] == pytest.approx(0.8, rel=0.05)
    assert widths["amount"] == pytest.approx(0.45, rel=0.05)


def test_what_a_raise_brings_about(loan: Dataset) -> None:
    """A tenth more income: savings grow faster, the amount asked for grows, some move house."""
    assert loan.truth is not None
    codec = loan.truth.codec
    income = np.array(loan.frame["income"].to_numpy() * 1.1)
    after = codec.to_raw(loan.truth.counterfactual(codec.encode(loan.frame), {"income": income}))
    column = {name: loan.schema.position(name) for name in loan.schema.names}
    for name in ("age", "sex", "education", "job", "years_employed"):
        before = codec.to_raw(codec.encode(loan.frame))[:, column[name]]
        assert np.array_equal(after[:, column[name]], before)
    grown = after[:, column["savings"]] / np.array(loan.frame["savings"].to_numpy())
    assert grown.tolist() == pytest.approx([1.1**1.5] * len(grown))
    more = after[:, column["amount"]] / np.array(loan.frame["amount"].to_numpy())
    housing = np.array(loan.frame["housing"].cat.codes.to_numpy())
    risen = after[:, column["housing"]] - housing
    assert more[risen == 0].tolist() == pytest.approx([1.1**0.6] * int((risen == 0).sum()))
    assert set(risen.tolist()) == {0, 1}
    # 0.8 log(1.1) = 0.076 of a level: at most as many cross a threshold.
    assert 0.03 < risen.mean() < 0.077


def test_advice_that_ignores_causes_fails_for_some(loan: Dataset, model: Model) -> None:
    """The smallest raise that flips the model, all else equal, does not flip it in the world."""
    assert loan.truth is not None
    rejected = loan.frame[model.predict(loan.frame) == 0].head(400).reset_index(drop=True)
    raised = np.full(len(rejected), np.nan)
    for factor in np.arange(2.0, 1.0, -0.05):
        income = (rejected["income"] * factor / 100).round().astype(int) * 100
        accepted = model.predict(rejected.assign(income=income)) == 1
        raised[accepted] = income[accepted]
    helped = ~np.isnan(raised)
    assert helped.mean() > 0.25
    codec = loan.truth.codec
    factual = codec.encode(rejected[helped])
    world = loan.truth.counterfactual(factual, {"income": np.array(raised[helped])})
    failed = (model.predict(codec.decode(world)) == 0).mean()
    assert 0.15 < failed < 0.6


def test_what_follows_cannot_be_acted_on(loan: Dataset) -> None:
    actions = {feature.name: feature.action for feature in loan.recourse_schema}
    assert {name for name, action in actions.items() if action is Action.INDIRECT} == set(INDIRECT)
    assert INDIRECT
    assert all(loan.graph.parents(name) for name in INDIRECT)
