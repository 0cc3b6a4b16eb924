"""Outliers change nothing for everybody else, and the scale of a search never reaches a model."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proce import Explanations, ProCE, SearchSettings
from proce.arrays import Floats, Ints
from proce.causal.discovery.caveats import DiscoveryWarning
from proce.classifier import as_classifier, fit_network, predict_frame
from proce.errors import SearchError
from proce.objective import CallLimits, GeneMap, genome_of
from proce.schema import Categorical, Codec, Continuous, MixedDistance, Schema
from proce.search import GeneKind
from proce.training_settings import TrainingSettings

from ...worlds import SETTINGS, TINY, two_classes

N = 4000


def borrowers(n: int = N, seed: int = 0) -> pd.DataFrame:
    """Return people with a debt ratio, four of which are absurd."""
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "debt_ratio": draw.beta(2, 3, n),
            "income": draw.lognormal(10, 0.5, n),
            "accounts": draw.integers(18, 80, n),
        }
    )
    frame.loc[:3, "debt_ratio"] = [3220.0, 5000.0, 61106.0, 329664.0]
    return frame


def strict(frame: pd.DataFrame) -> Any:
    return two_classes((frame["debt_ratio"] < 0.3654) | (frame["income"] > 1e6))


INDEBTED = pd.DataFrame({"debt_ratio": [0.83, 0.7123456789], "income": 20000.0, "accounts": 40})


@pytest.fixture(scope="module")
def explained() -> Any:
    return ProCE(strict, settings=SETTINGS).fit(borrowers()).explain(INDEBTED, target=1)


def test_a_debt_ratio_is_lowered_to_where_people_are(explained: Any) -> None:
    assert explained.outcomes()["outcome"].tolist() == ["found", "found"]
    first = explained.changes().query("rank == 1")
    assert first["feature"].tolist() == ["debt_ratio", "debt_ratio"]
    after = first["after"].astype(float)
    assert after.between(0.34, 0.3654).all()
    assert "Lower debt ratio from 0.83 to at most 0.36" in explained[0].sentences()[0]


def test_changed_numbers_are_returned_as_they_are_shown(explained: Any) -> None:
    after = explained.to_frame()["debt_ratio"]
    assert [float(f"{value:.4f}") for value in after] == after.tolist()
    told = explained[0].sentences()[0]
    assert f"{after.iloc[0]:g}" in told


def test_unchanged_numbers_stay_as_they_came(explained: Any) -> None:
    after = explained.to_frame()
    kept = after["income"] == 20000.0
    assert kept.any()
    assert (after["accounts"].to_numpy() == 40)[kept].all()


def test_a_result_with_outliers_comes_back_from_json(explained: Any) -> None:
    text = explained.to_json()
    again = Explanations.from_json(text)
    assert again.to_json() == text
    ours, theirs = explained.context.codec, again.context.codec
    for name in ("low", "span", "seen_low", "seen_high", "resolution"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))


def test_the_explainer_shows_its_scale(explained: Any) -> None:
    explainer = ProCE(strict, settings=TINY).fit(borrowers())
    _, debt, income, accounts = explainer.schema_.table()
    assert debt[2].endswith("or its own")
    assert "seen" in debt[4]
    assert "329,664, rounded to 0.0001" in debt[4]
    assert "rounded to 10" in income[4]
    assert accounts[2] == "18 to 79 or its own, step 1"


def limits_of(schema: Schema, own: float, scale: str = "bulk", **options: Any) -> Any:
    codec = Codec.fit(schema, borrowers()[["debt_ratio"]], scale)  # type: ignore[arg-type]
    rows = codec.encode(pd.DataFrame({"debt_ratio": [own]}))
    call = CallLimits.read(codec, **options)
    raw = {}
    for name, limits in (("default", call), ("widened", call.widened())):
        made = limits.of_rows(codec, rows)
        ends = np.concatenate(
            [made.lower, made.upper, made.consequence_lower, made.consequence_upper], axis=-1
        )
        raw[name] = (ends * codec.span + codec.low)[0].tolist()
    return raw


def test_a_search_looks_in_the_bulk_and_at_ones_own_value() -> None:
    column = borrowers()["debt_ratio"]
    codec = Codec.fit(Schema([Continuous("debt_ratio")]), column.to_frame(), "bulk")
    low, high = codec.low.item(), (codec.low + codec.span).item()
    plain = limits_of(Schema([Continuous("debt_ratio")]), 0.5)
    assert plain["default"] == pytest.approx([low, high, column.min(), 329664.0])
    assert plain["widened"] == pytest.approx([column.min(), 329664.0] * 2)
    far = limits_of(Schema([Continuous("debt_ratio")]), 5000.0)
    assert far["default"][:2] == pytest.approx([low, 5000.0])
    down = limits_of(Schema([Continuous("debt_ratio", action="decrease")]), 0.5)
    assert down["default"] == pytest.approx([low, 0.5, column.min(), 0.5])


def test_a_range_in_the_schema_or_the_call_goes_before_the_bulk() -> None:
    wide = limits_of(Schema([Continuous("debt_ratio", range=(0, 4000))]), 0.5)
    assert wide["default"][:2] == pytest.approx([0.0, 4000.0])
    assert wide["widened"] == wide["default"]
    asked = limits_of(Schema([Continuous("debt_ratio")]), 0.5, ranges={"debt_ratio": (0.2, 3000)})
    assert asked["default"][:2] == pytest.approx([0.2, 3000.0])
    assert asked["widened"] == asked["default"]


def test_on_the_scale_of_the_paper_the_search_looks_everywhere() -> None:
    ends = limits_of(Schema([Continuous("debt_ratio")]), 0.5, "range")
    assert ends["default"] == ends["widened"]
    assert ends["default"][1] == pytest.approx(329664.0)


def test_a_network_gets_the_same_inputs_on_every_scale() -> None:
    frame = borrowers(600)
    label = (frame["debt_ratio"] < 0.4).astype(int)
    codec = Codec.fit(Schema.infer(frame), frame)
    network = fit_network(codec, frame, label, settings=TrainingSettings(n_epochs=2))
    for model in (network, network.module.module):
        expected = as_classifier(model, codec).predict_proba(codec.encode(frame))
        for scale in ("bulk", "range"):
            fitted = ProCE(model, settings=replace(TINY, scale=scale)).fit(frame).fitted_
            assert np.array_equal(predict_frame(fitted.classifier, frame, fitted.codec), expected)
            rows = fitted.classifier.predict_proba(fitted.codec.encode(frame))
            assert rows == pytest.approx(expected, abs=1e-6)


def test_somebody_elses_classifier_gets_the_same_rows_on_every_scale() -> None:
    frame = borrowers(300)
    codec = Codec.fit(Schema.infer(frame), frame)

    class Theirs:
        classes, threshold = (0, 1), None

        def predict_proba(self, rows: Floats) -> Floats:
            yes = 1 / (1 + np.exp(-1000 * rows[:, 0]))
            return np.stack([1 - yes, yes], axis=-1)

        def predict(self, rows: Floats) -> Ints:
            return self.predict_proba(rows).argmax(-1)

    expected = Theirs().predict_proba(codec.encode(frame))
    for scale in ("bulk", "range"):
        fitted = ProCE(Theirs(), settings=replace(TINY, scale=scale)).fit(frame).fitted_
        assert np.array_equal(predict_frame(fitted.classifier, frame, fitted.codec), expected)


def test_the_settings_of_the_paper_keep_the_range_and_any_value() -> None:
    frame = borrowers(300)
    paper = SearchSettings.paper()
    assert paper.scale == "range"
    plain = Codec.fit(Schema.infer(frame), frame)
    ours = Codec.fit(Schema.infer(frame), frame, paper.scale)
    assert np.array_equal(ours.encode(frame), plain.encode(frame))
    assert np.array_equal(ours.low, frame.min().to_numpy(dtype=float))
    assert ours.resolution.tolist() == [0.0, 0.0, 1.0]
    rows = ours.encode(frame.head(3))
    limits = CallLimits.read(ours).of_rows(ours, rows)
    genome = genome_of(ours, rows, limits, GeneMap(3))
    assert genome.kind.tolist() == [GeneKind.REAL, GeneKind.REAL, GeneKind.GRID]
    assert np.array_equal(limits.lower, np.zeros_like(rows))
    assert np.array_equal(limits.upper, np.ones_like(rows))


def test_another_scale_is_refused() -> None:
    with pytest.raises(SearchError, match="scale is 'mad'; expected 'bulk' or 'range'"):
        SearchSettings(scale="mad")  # type: ignore[arg-type]


def test_an_explainer_keeps_its_scale_in_its_folder(tmp_path: Any) -> None:
    explainer = ProCE(strict, settings=TINY).fit(borrowers(500))
    again = ProCE.load(explainer.save(tmp_path / "folder"), model=strict)
    ours, theirs = explainer.fitted_.codec, again.fitted_.codec
    for name in ("low", "span", "seen_low", "seen_high", "resolution", "may_miss"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))
    assert again.fitted_.settings == TINY
    first, second = (e.explain(INDEBTED, target=1).to_frame() for e in (explainer, again))
    pd.testing.assert_frame_equal(first, second)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (lambda draw: 1e-12 * draw.random(500), 1e-16),
        (lambda draw: 1e15 * draw.random(500), 1e11),
        (lambda draw: 1e15 + draw.integers(0, 80, 500) / 8, 0.0),  # all doubles there are
        (lambda draw: np.append(np.zeros(499), 7.5), 0.001),
        (lambda draw: np.append(draw.random(499), -1e300), 0.0001),
    ],
)
def test_numbers_of_any_size_are_explained_exactly(values: Any, told: float) -> None:
    column = values(np.random.default_rng(0))
    frame = pd.DataFrame({"x": column, "y": np.arange(500.0) % 7})
    middle = (np.sort(column)[250] + np.sort(column)[-3]) / 2 if column[0] else 3.0

    def model(rows: pd.DataFrame) -> Any:
        return two_classes(rows["x"] >= middle)

    schema = Schema([Continuous("x"), Continuous("y", step=1)])
    explainer = ProCE(model, schema=schema, settings=SETTINGS).fit(frame)
    assert explainer.fitted_.codec.resolution[0].item() == told
    lowest = frame[frame["x"] < middle].sort_values("x").iloc[[100]]
    result = explainer.explain(lowest, target=1)
    assert result[0].outcome == "found"
    after = result.counterfactuals()
    assert (after["x"] >= middle).all()
    if told:
        steps = after["x"].to_numpy() / told
        assert np.abs(steps - steps.round()).max() < 1e-6
    else:
        assert set(after["x"] * 8 % 1) == {0.0}


def test_constant_columns_stay_and_change_nothing() -> None:
    frame = borrowers(300).assign(bank="north", branch=12.5, online=True)
    explainer = ProCE(strict, settings=TINY).fit(frame)
    assert len(explainer.schema_.notes) == 3
    rows = INDEBTED.assign(bank="north", branch=12.5, online=True)
    result = explainer.explain(rows, target=1)
    assert set(result.changes()["feature"]) <= {"debt_ratio", "income", "accounts"}
    assert (result.to_frame()["bank"] == "north").all()


def test_a_graph_can_be_discovered_beside_constant_columns() -> None:
    frame = borrowers(300).assign(bank="north", branch=12.5)
    with pytest.warns(DiscoveryWarning):
        explainer = ProCE(strict, graph="discover", settings=TINY).fit(frame)
    rows = INDEBTED.assign(bank="north", branch=12.5)
    assert set(explainer.explain(rows, target=1).outcomes()["outcome"]) <= {"found", "not_found"}


def test_levels_have_no_scale() -> None:
    frame = pd.DataFrame(
        {"x": np.append(np.arange(300.0), 1e9), "job": ["a", "b", "c"] * 100 + ["a"]}
    )
    codec = Codec.fit(Schema([Continuous("x"), Categorical("job", ("a", "b", "c"))]), frame, "bulk")
    assert (codec.low[1].item(), codec.span[1].item(), codec.resolution[1].item()) == (0, 1, 0)
    assert (codec.lowest[1].item(), codec.highest[1].item()) == (0, 2)


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_distances_between_other_people_hardly_change_when_rows_become_outliers(seed: int) -> None:
    draw = np.random.default_rng(seed)
    before = borrowers(2000, seed)
    after = before.astype(float)
    hit = draw.choice(np.arange(4, 2000), 2, replace=False)
    after.loc[hit] *= 1e6
    others = before.drop(index=[*hit, 0, 1, 2, 3]).sample(40, random_state=seed)
    schema = Schema([Continuous(name) for name in before.columns])
    apart = []
    for frame in (before, after):
        codec = Codec.fit(schema, frame, "bulk")
        rows = codec.encode(others)
        apart.append(MixedDistance.gower(codec)(rows[:20], rows[20:]).sum(-1))
    np.testing.assert_allclose(apart[1], apart[0], rtol=0.02)


def test_a_model_is_asked_at_the_very_value_of_an_outlier() -> None:
    asked: list[float] = []

    def model(frame: pd.DataFrame) -> Any:
        asked.extend(frame["debt_ratio"])
        return 0.1 + 0.8 * two_classes(frame["income"] > 50000)  # no hard labels

    explainer = ProCE(model, settings=TINY).fit(borrowers(300))
    asked.clear()
    rich = INDEBTED.head(1).assign(debt_ratio=1.2345e12)
    result = explainer.explain(rich, target=1, vary=["income"])
    assert result[0].outcome == "found"
    assert set(asked) == {1.2345e12}
    assert set(result.to_frame()["debt_ratio"]) == {1.2345e12}
