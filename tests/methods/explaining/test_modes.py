"""What ProCE returns is true, in every causal mode."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import CausalGraph, Dataset, ProCE, SearchSettings
from proce.causal import StructuralCausalModel
from proce.explanation import Change, Outcome
from proce.schema import Action, Codec, Continuous, Schema

from ...worlds import SETTINGS, TINY, actions_of, bank, logistic, one, people, without_diagnosis

MODES = ("hard", "soft", "paper", "off")
Lender = Callable[[str], ProCE]


@pytest.fixture(scope="module", params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def result(mode: str, lender: Lender, rejected: pd.DataFrame) -> Any:
    return lender(mode).explain(rejected, progress=without_diagnosis)


def test_most_rows_are_explained(result: Any) -> None:
    outcomes = result.outcomes()["outcome"]
    assert (outcomes == "found").mean() > 0.7
    assert set(outcomes) <= {"found", "not_found"}


def test_rows_sent_to_the_model_again_have_the_target_class(result: Any, trees: Any) -> None:
    frame = result.counterfactuals()
    assert len(frame)
    assert (trees.predict(frame) == 1).all()
    chances = np.concatenate([item.probabilities for item in result])
    assert chances == pytest.approx(trees.predict_proba(frame)[:, 1], abs=1e-12)


def test_rows_obey_the_rules(result: Any, rejected: pd.DataFrame) -> None:
    """By hand, not by the code that the search used."""
    after = result.to_frame()
    before = rejected.iloc[after["row"]]
    assert len(after)
    assert (after["age"].to_numpy() >= before["age"].to_numpy()).all()
    assert (schooling(after) >= schooling(before)).all()


def schooling(frame: pd.DataFrame) -> Any:
    return frame["education"].cat.codes.to_numpy()


def test_who_studies_grows_older(mode: str, lender: Lender, rejected: pd.DataFrame) -> None:
    """By the last rule; a rule of the call asks everybody to study."""
    rules = ["cf.education > x.education"]
    result = lender(mode).explain(rejected.head(4), rules=rules, progress=without_diagnosis)
    after = result.to_frame()
    before = rejected.iloc[after["row"]]
    assert len(after)
    assert (schooling(after) > schooling(before)).all()
    assert (after["age"].to_numpy() > before["age"].to_numpy()).all()


def test_fixed_and_indirect_features_are_not_acted_on(result: Any, mode: str) -> None:
    acted_on = set(actions_of(result)["feature"])
    assert acted_on
    assert not acted_on & {"sex", "years_employed", "credit_score"}
    consequences = result.changes().query("kind == 'consequence'")
    assert "sex" not in set(consequences["feature"])
    assert len(consequences) > 0 or mode in ("paper", "off")


def test_what_is_not_listed_as_a_change_is_as_it_came_in(
    result: Any, rejected: pd.DataFrame
) -> None:
    frame, changes = result.to_frame(), result.changes()
    listed = set(zip(changes["row"], changes["rank"], changes["feature"], strict=True))
    assert listed
    for _, line in frame.iterrows():
        before = rejected.iloc[line["row"]]
        for name in rejected.columns:
            has_moved = line[name] != before[name]
            is_listed = (line["row"], line["rank"], name) in listed
            assert has_moved <= is_listed
            if is_listed and not has_moved:
                kind = changes.set_index(["row", "rank", "feature"])["kind"]
                assert kind[line["row"], line["rank"], name] == "hold"


def test_values_lie_on_the_steps_of_the_schema(result: Any, loan: Dataset) -> None:
    frame = result.counterfactuals()
    assert len(frame)
    for feature in loan.schema:
        if isinstance(feature, Continuous) and feature.step:
            assert (frame[feature.name] % feature.step == 0).all()


def test_the_recommended_row_is_the_closest_of_those_shown(result: Any) -> None:
    """Unless another holds better under refitted equations, and here none are refitted."""
    several = [item for item in result if len(item) > 1]
    assert several
    for item in several:
        assert item.losses[0, 2] <= item.losses[:, 2].min() + 1e-12


def test_counterfactuals_of_a_row_are_distinct(result: Any) -> None:
    frame = result.to_frame().drop(columns="rank")
    assert len(frame) > frame["row"].nunique()
    assert not frame.duplicated().any()


def test_the_front_holds_what_no_other_row_beats(result: Any) -> None:
    explained = [item for item in result if item.outcome is Outcome.FOUND]
    assert explained
    for item in explained:
        losses = item.front.losses
        better = (losses[:, None] <= losses[None]).all(-1) & (losses[:, None] < losses[None]).any(
            -1
        )
        assert len(item.front) > 0
        assert not better.any()


def test_consequences_follow_from_the_actions(lender: Lender, rejected: pd.DataFrame) -> None:
    """Asked what the actions alone lead to, the equations give the row that is shown."""
    explainer = lender("hard")
    result = explainer.explain(rejected.head(4), n=2)
    shown = result.to_frame()
    assert len(shown)
    for (row, rank), done in actions_of(result).groupby(["row", "rank"]):
        answer = explainer.what_if(
            rejected.iloc[[row]], dict(zip(done["feature"], done["after"], strict=True))
        )
        line = shown[(shown["row"] == row) & (shown["rank"] == rank)]
        pd.testing.assert_frame_equal(
            answer.frame.reset_index(drop=True), line[rejected.columns].reset_index(drop=True)
        )


def test_hard_counts_actions_and_what_they_cost(lender: Lender, rejected: pd.DataFrame) -> None:
    result = lender("hard").explain(rejected.head(4), n=2)
    assert len(result.to_frame())
    for item in result:
        counts = ((item.changes == Change.ACTION) | (item.changes == Change.HOLD)).sum(-1)
        assert (item.losses[:, 2] >= 0.02 * counts - 1e-12).all()


def test_off_measures_the_plain_distance() -> None:
    """Savings from 20 to v over the span of the bulk, and the charge for one action."""
    explainer = ProCE(bank, settings=SETTINGS).fit(people())
    row = one()
    result = explainer.explain(row, vary=["savings"], n=1)
    after = result.counterfactuals()["savings"].iloc[0]
    span = people()["savings"].max() - people()["savings"].min()
    assert float(result[0].losses[0, 2]) == pytest.approx((after - 20) / span + 0.02)


class TestAuto:
    """``causal="auto"`` depends on where the graph came from, and the result says which."""

    FRAME = pd.DataFrame(
        np.random.default_rng(0).laplace(size=(200, 2)) @ [[1.0, 0.8], [0.0, 0.5]],
        columns=["a", "b"],
    )

    @staticmethod
    def model(frame: pd.DataFrame) -> Any:
        return logistic(frame["b"])

    def mode(self, graph: Any) -> Any:
        explainer = ProCE(self.model, graph=graph, settings=TINY).fit(self.FRAME)
        result = explainer.explain(self.FRAME.head(2))
        return result.provenance.mode, result.provenance.graph, result.context.origin

    def test_hard_where_it_was_given(self) -> None:
        import networkx

        for graph in (
            [("a", "b")],
            CausalGraph([("a", "b")]),
            networkx.DiGraph([("a", "b")]),
        ):
            assert self.mode(graph) == ("hard", "given", "given")

    def test_soft_where_it_was_discovered(self) -> None:
        mode, graph, origin = self.mode("discover")
        assert mode == "soft"
        assert "discovered by" in graph
        assert graph == origin

    def test_off_where_there_is_none(self) -> None:
        assert self.mode(None) == ("off", None, None)


def test_with_a_bootstrapped_graph_every_counterfactual_carries_its_support() -> None:
    frame = TestAuto.FRAME
    graph = CausalGraph.discover(frame, bootstrap=5, seed=0)
    explainer = ProCE(TestAuto.model, graph=graph, settings=TINY).fit(frame)
    result = explainer.explain(frame.head(4))
    assert result.context.n_graphs == 5
    explained = [item for item in result if len(item)]
    assert explained
    for item in explained:
        assert item.support is not None
        assert item.support.shape == (len(item),)
        assert ((item.support >= 0) & (item.support <= 5)).all()


def test_a_fixed_effect_stays_whatever_its_causes_do() -> None:
    """Edges into a fixed feature are cut for that person."""
    frame = TestAuto.FRAME
    schema = Schema.infer(frame).edit("b", action=Action.FIXED)

    def either(rows: pd.DataFrame) -> Any:
        return logistic(rows["a"] + rows["b"])

    explainer = ProCE(either, schema=schema, graph=[("a", "b")], settings=TINY).fit(frame)
    result = explainer.explain(frame.head(6))
    after = result.to_frame()
    assert len(after) > 0
    assert (after["b"].to_numpy() == frame["b"].iloc[after["row"]].to_numpy()).all()


def test_a_cell_that_hardly_moves_stays_exactly() -> None:
    """Of numbers without a step, a change too small to be told is none."""
    draw = np.random.default_rng(2)
    frame = pd.DataFrame(draw.normal(size=(300, 2)), columns=["a", "b"])

    def by_a(rows: pd.DataFrame) -> Any:
        return logistic(3 * rows["a"])

    codec = Codec.fit(Schema.infer(frame), frame)
    scm = StructuralCausalModel.fit(
        CausalGraph([("a", "b")]),
        codec.encode(frame),
        codec,
        equations={"b": lambda causes: 0.001 * causes["a"]},
    )
    result = (
        ProCE(by_a, graph=scm, settings=SETTINGS).fit(frame).explain(frame.head(10), vary=["a"])
    )
    after = result.to_frame()
    assert len(after) > 20
    before = frame.iloc[after["row"]].reset_index(drop=True)
    after = after.reset_index(drop=True)
    span = ProCE(by_a, settings=SETTINGS).fit(frame).fitted_.codec.span[1].item()
    drift = 0.001 * (after["a"] - before["a"]).abs()
    stayed = after["b"] == before["b"]
    assert 0 < (~stayed).sum() < stayed.sum()
    assert (stayed == (drift <= 0.0005 * span)).all()
    assert len(result.changes().query("feature == 'b'")) == (~stayed).sum()
    assert sum(item.dropped for item in result) == 0


def test_the_settings_of_the_authors() -> None:
    paper = SearchSettings.paper()
    assert (paper.population_size, paper.n_offspring, paper.n_generations) == (200, 50, 100)
    assert (paper.crossover_eta, paper.mutation_eta) == (3.0, 3.0)
    assert (paper.n_neighbours, paper.latent_size) == (10, 256)
    assert (paper.margin, paper.start, paper.n_refits) == (0.0, "gaussian", 0)


def test_the_settings_of_the_authors_run(loan: Dataset, trees: Any, rejected: Any) -> None:
    """As printed: no rules, Eqs. 8-9, Algorithm 1's start; on fewer generations."""
    settings = replace(
        SearchSettings.paper(), n_generations=10, autoencoder=SETTINGS.autoencoder, latent_size=16
    )
    explainer = ProCE(
        trees, schema=loan.schema, graph=loan.truth, causal="paper", settings=settings
    ).fit(loan.frame)
    result = explainer.explain(rejected.head(3), n=1, pick="first")
    assert len(result.counterfactuals())
    assert (trees.predict(result.counterfactuals()) == 1).all()
