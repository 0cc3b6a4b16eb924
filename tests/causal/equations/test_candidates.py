"""The kinds of equations that are compared, and what a kind that wins is refined to."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from proce.causal import CausalGraph, Ensemble, StructuralCausalModel
from proce.causal.equations import regression
from proce.causal.equations.families import family_for
from proce.causal.equations.fitting import error, refitting, surprise_of_levels
from proce.causal.equations.learning import EffectRows, Folds
from proce.causal.equations.mechanism import Ordered, mean_rank
from proce.causal.equations.regression import Form, needed_terms
from proce.causal.equations.terms import columns_of
from proce.causal.moments import Moments
from proce.schema import Categorical, Codec, Ordinal, Schema


def fitted(frame, graph, kind="auto"):
    codec = Codec.fit(Schema.infer(frame), frame)
    rows = codec.encode(frame)
    return StructuralCausalModel.fit(graph, rows, codec, mechanism=kind), rows


def effect_of(name, frame, graph):
    codec = Codec.fit(Schema.infer(frame), frame)
    return EffectRows.of(name, graph, codec.encode(frame), codec)


def pair(x, y):
    return pd.DataFrame({"x": x, "y": y}), CausalGraph([("x", "y")])


def test_a_spline_that_wins_is_tried_with_more_knots():
    draw = np.random.default_rng(0)
    x = draw.uniform(0, 10, 1500)
    wave = pair(x, np.sin(2 * x) + draw.normal(0, 0.2, 1500))
    record = fitted(*wave)[0].records["y"]
    assert record.kind == "fine-spline"
    assert record.errors["fine-spline"] < 0.5 * record.errors["spline"]
    assert record.description == "a fine spline"
    bend = pair(x, np.maximum(x, 5) + draw.normal(0, 0.2, 1500))
    assert "fine" not in fitted(*bend)[0].records["y"].kind


def plots(n=1000):
    """The price of a plot is twice its area; lengths are far from zero."""
    draw = np.random.default_rng(0)
    width, length = draw.uniform(30, 50, n), draw.uniform(60, 90, n)
    price = 2 * width * length + draw.normal(0, 50, n)
    frame = pd.DataFrame({"width": width, "length": length, "price": price})
    return frame, CausalGraph([("width", "price"), ("length", "price")])


def test_an_area_is_one_product_of_lengths_from_zero_on():
    frame, graph = plots()
    scm, _ = fitted(frame, graph)
    record = scm.records["price"]
    assert record.kind == "sparse-quadratic"
    weights = scm.mechanisms["price"].predict.weights[1:]
    terms = scm.mechanisms["price"].predict.terms
    assert np.flatnonzero(weights).tolist() == [4]  # width, length, two squares, the product
    assert terms.size == 6
    asked = pd.DataFrame({"width": [20.0, 100.0], "length": [20.0, 100.0], "price": 0.0})
    told = scm.codec.raw_numbers(2, scm.predict("price", scm.codec.encode(asked)))
    np.testing.assert_allclose(told, [800, 20_000], rtol=0.01)  # where nobody was seen


def test_needless_terms_cost_accuracy_and_are_dropped():
    frame, graph = plots(120)
    full, _ = fitted(frame, graph, "quadratic")
    sparse, _ = fitted(frame, graph)
    truth = frame.assign(width=50.0).eval("2 * width * length")
    error = {}
    for name, scm in (("full", full), ("sparse", sparse)):
        asked = scm.codec.encode(frame.assign(width=50.0))
        told = scm.codec.raw_numbers(2, scm.predict("price", asked))
        error[name] = np.abs(told - truth).mean()
    assert error["sparse"] < 0.7 * error["full"]


@pytest.mark.parametrize("kind", ["linear", "log-quadratic", "sparse-spline", "log-sparse-spline"])
def test_errors_of_unseen_rows_are_those_of_fits_on_the_others(kind):
    """From sums over rows, as by a fit on each part; with the knots of all rows."""
    effect = effect_of("price", *plots(300))
    folds = Folds.of(effect, 3)
    told = family_for(kind, effect).predict_unseen(kind, effect, folds, 3)
    terms = family_for(kind, effect).fit(kind, effect, 3)(effect.counts).predict
    terms = getattr(terms, "polynomial", terms).terms
    columns, target = columns_of(terms, effect.parents), effect.target
    target = np.log(target - effect.origin) if kind.startswith("log") else target
    parts = []
    for counts, unseen in zip(folds.counts, folds.unseen, strict=True):
        seen = counts == 0
        kept = list(range(columns.shape[1]))
        if "sparse" in kind:
            moments = Moments.of(columns[seen], target[seen], np.ones(seen.sum()))
            kept = needed_terms(moments).tolist()
        model = LinearRegression().fit(columns[seen][:, kept], target[seen])
        parts.append(model.predict(columns[unseen][:, kept]))
    expected = np.concatenate(parts)
    expected = np.exp(expected) + effect.origin if kind.startswith("log") else expected
    np.testing.assert_allclose(told, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["linear", "log-spline"])
def test_the_errors_that_choose_a_form_are_those_of_its_equation_to_the_last_bit(kind, monkeypatch):
    def draw_weights(moments):
        return np.random.default_rng(0).normal(0, 0.3, len(moments.centred))

    monkeypatch.setattr(regression, "least_squares", draw_weights)
    effect = effect_of("price", *plots(300))
    folds = Folds.of(effect, 3)
    told = family_for(kind, effect).fit(kind, effect, 3)(effect.counts).predict(effect.parents)
    assert np.array_equal(
        family_for(kind, effect).predict_unseen(kind, effect, folds, 3), told[folds.positions]
    )


def test_the_error_of_levels_is_the_mean_loss_of_their_chances():
    draw = np.random.default_rng(0)
    x = draw.uniform(0, 1, 300)
    codes = (3 * x + draw.uniform(-1, 1, 300)).astype(int).clip(0, 2)
    codes[0] = 3  # a level that a fit without its row does not know
    frame = pd.DataFrame({"x": x, "y": pd.Categorical.from_codes(codes, list("abcd"))})
    effect = effect_of("y", frame, CausalGraph([("x", "y")]))
    folds = Folds.of(effect, 3)
    chances = family_for("logistic", effect).predict_unseen("logistic", effect, folds, 3)
    target = effect.target[folds.positions]
    parts = []
    for counts, unseen in zip(folds.counts, folds.unseen, strict=True):
        fit = family_for("logistic", effect).fit("logistic", effect, 3)
        mechanism = fit(effect.counts - counts)
        parts.append(mechanism.chance({"x": effect.parents["x"][unseen]}, effect.target[unseen]))
    of_target = np.concatenate(parts)
    assert np.array_equal(chances[np.arange(300), target.astype(int)], of_target)
    expected = -np.log(np.maximum(of_target, 1e-12)).mean()  # no chance costs no more
    assert error(effect.feature, chances, target, folds.weights) == pytest.approx(expected)
    assert 20 < -np.log(of_target.min()) < 100


ALIKE = ["linear", "spline", "log-quadratic", "log-sparse-spline", "boosting"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [*(("price", kind) for kind in ALIKE), ("grade", "ordered-spline"), ("place", "logistic")],
)
def test_rows_that_are_alike_are_learned_from_as_often_as_they_occur(name, kind):
    """Drawn with replacement, each row stands alone or with those like it."""
    draw = np.random.default_rng(0)
    width = draw.integers(3, 9, 400).astype(float)
    frame = pd.DataFrame({"width": width, "price": np.round(2 * width + draw.normal(9, 1, 400))})
    grades = np.digitize(width + draw.normal(size=400), [4.5, 6])
    frame["grade"] = pd.Categorical.from_codes(grades, list("abc"), ordered=True)
    frame["place"] = pd.Categorical.from_codes(draw.integers(0, 3, 400), ["x", "y", "z"])
    codec, graph = Codec.fit(Schema.infer(frame), frame), CausalGraph([("width", name)])
    rows = codec.encode(frame)
    drawn = draw.integers(0, 400, 400)
    together = EffectRows.of(name, graph, rows, codec)
    alone = EffectRows.of(name, graph, rows, codec)
    position = codec.schema.position(name)
    alone = replace(
        alone,
        parents={"width": rows[:, 0]},
        target=rows[:, position],
        places=np.arange(400),
    )
    assert len(together.target) < 100
    times = np.bincount(drawn, minlength=400)
    fits = [
        family_for(kind, effect).fit(kind, effect, 0)(effect.counts_of(times))
        for effect in (together, alone)
    ]
    told = [getattr(fit, "score", fit.predict)(alone.parents) for fit in fits]
    np.testing.assert_allclose(told[0], told[1], rtol=1e-6, atol=1e-6)


def steps(n=3000, seed=0):
    """Levels of a latent number with noise, far from evenly wide, many at the ends."""
    draw = np.random.default_rng(seed)
    x = draw.uniform(-3, 3, n)
    latent, noise = 1.5 * x, draw.normal(size=n)
    levels = np.digitize(latent + noise, [-1, -0.4, 2.5])
    frame = pd.DataFrame({"x": x})
    frame["y"] = pd.Categorical.from_codes(levels, list("abcd"), ordered=True)
    return frame, noise


def test_ordered_levels_are_fitted_with_their_thresholds():
    frame, _ = steps()
    scm, _ = fitted(frame, CausalGraph([("x", "y")]))
    assert scm.records["y"].kind == "ordered-linear"
    mechanism = scm.mechanisms["y"]
    slope = mechanism.score.weights[1].item() / float(scm.codec.span[0])
    at_zero = -mechanism.score.weights[1].item() * float(scm.codec.low[0] / scm.codec.span[0])
    assert slope == pytest.approx(1.5, rel=0.05)
    np.testing.assert_allclose(mechanism.thresholds - at_zero, [-1, -0.4, 2.5], atol=0.12)


def test_what_follows_for_ordered_levels_is_nearer_to_the_truth_than_by_ranks():
    frame, noise = steps()
    graph = CausalGraph([("x", "y")])
    truth = np.digitize(1.5 * (frame["x"] + 1) + noise, [-1, -0.4, 2.5])
    wrong = {}
    for kind in ("auto", "linear", "quadratic"):
        scm, rows = fitted(frame, graph, kind)
        moved = scm.counterfactual(rows, {"x": frame["x"].to_numpy() + 1})
        wrong[kind] = (moved[:, 1] != truth).mean()
    assert wrong["auto"] < 0.8 * min(wrong["linear"], wrong["quadratic"])


@pytest.mark.parametrize("kind", ["linear", "ordered-quadratic", "ordered-spline"])
def test_ordered_levels_can_be_fitted_again_by_their_kind(kind):
    frame, _ = steps()
    codec = Codec.fit(Schema.infer(frame), frame)
    rows, graph = codec.encode(frame), CausalGraph([("x", "y")])
    again = refitting("y", graph, rows, codec, kind, 0)(np.ones(len(rows)))
    assert getattr(again, "noise", "drawn") == "drawn"
    assert again.n_levels == 4


def test_of_few_levels_the_chosen_noise_is_the_median_and_those_of_refits_are_drawn():
    frame, _ = steps()
    scm, rows = fitted(frame, CausalGraph([("x", "y")]))
    assert np.array_equal(scm.abduct(rows, seed=0), scm.abduct(rows, seed=1))
    (member,) = Ensemble.refit(scm, rows, 1).members
    assert not np.array_equal(member.abduct(rows, seed=0), member.abduct(rows, seed=1))


def test_other_columns_do_not_matter_to_an_effect():
    """Neither what is missing there, nor outliers, nor how many there are."""
    frame, graph = plots(200)
    wide = frame.assign(other=np.where(np.arange(200) % 3, 1.0, np.nan), far=0.0, place="x")
    wide.loc[[3, 5], "far"] = [1e9, -1e9]
    wide.loc[7, "width"] = frame.loc[7, "width"] = np.nan
    alone, beside = (effect_of("price", table, graph) for table in (frame, wide))
    assert alone.n_rows == beside.n_rows == 199
    assert np.array_equal(alone.places, beside.places)
    assert np.array_equal(alone.target, beside.target)
    assert all(np.array_equal(alone.parents[name], beside.parents[name]) for name in alone.parents)


def test_a_level_without_a_chance_costs_as_much_in_the_error_as_in_the_comparison():
    levels, chances = np.array([1.0, 1.0]), np.array([[1.0, 0.0], [0.5, 0.5]])
    once, cost = np.ones(2), (-np.log(1e-12) - np.log(0.5)) / 2
    assert error(Categorical("town", ("a", "b")), chances, levels, once) == pytest.approx(cost)
    ordered = surprise_of_levels(Form("linear", is_ordered=True), chances, levels, once, 2)
    plain = surprise_of_levels(Form("linear", is_ordered=True), chances[[1, 1]], levels, once, 2)
    assert ordered - plain == pytest.approx(cost + np.log(0.5))


def test_the_mean_rank_is_the_same_from_chances_as_from_their_equation():
    draw = np.random.default_rng(0)
    grades, once = Ordinal("grade", tuple("abcd")), np.ones(2000)
    mechanism = Ordered(lambda parents: parents["x"], np.array([-1.0, 0.3, 1.1]), "unit")
    parents, ranks = {"x": draw.normal(0, 2, 2000)}, draw.integers(4, size=2000).astype(float)
    chances, predicted = mechanism.chances(parents), mechanism.predict(parents)
    assert np.array_equal(mean_rank(chances), predicted)
    assert error(grades, chances, ranks, once) == error(grades, predicted, ranks, once)


def test_ranks_that_are_predicted_exactly_are_no_surprise():
    ranks = np.array([0.0, 1.0, 2.0])
    form = Form("linear")
    found = surprise_of_levels(form, ranks, ranks, np.ones(3), 3)
    assert found == surprise_of_levels(form, ranks, ranks, np.ones(3), 4)
    assert found < surprise_of_levels(form, ranks + 0.1, ranks, np.ones(3), 3)


def test_a_level_of_a_predicted_rank_has_the_chance_of_noise_that_is_rounded_to_it():
    ranks, once = np.array([0.0, 1.0, 2.0]), np.ones(3)
    predicted, plain = ranks + np.array([0.6, -0.2, 0.3]), Form("linear")
    normal = NormalDist(0, np.sqrt((0.36 + 0.04 + 0.09) / 3))
    chances = [normal.cdf(-0.1), normal.cdf(0.7) - normal.cdf(-0.3), 1 - normal.cdf(-0.8)]
    exact = surprise_of_levels(plain, ranks, ranks, once, 3)
    found = surprise_of_levels(plain, predicted, ranks, once, 3)
    assert found - exact == pytest.approx(-np.log(chances).mean(), rel=1e-6)
