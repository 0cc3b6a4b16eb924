"""The causal graph is told with its equations; one that a person edits is fitted and marked."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proce import CausalGraph, ProCE
from proce.causal.graphs.dag import Origin
from proce.methods.fitting.fitted import RowsLeftOut
from proce.server.explainer_api.api import ExplainerApi
from proce.server.explainer_api.errors import RequestError

from ....worlds import STUDY_GRAPH, TINY, modest, students


@pytest.fixture(scope="module")
def study() -> ExplainerApi:
    """Study makes skill, skill makes pay: study is worth it where the pay is low."""
    frame = students(200)
    return ExplainerApi(ProCE(modest, graph=STUDY_GRAPH, settings=TINY).fit(frame))


def test_equations_are_told_with_what_they_do_not_explain(study: ExplainerApi) -> None:
    graph = study.graph()
    assert graph["origin"] == "given"
    assert graph["words"] == "The causal graph was given by a person."
    assert graph["can_edit"]
    assert [(edge["cause"], edge["effect"]) for edge in graph["edges"]] == list(STUDY_GRAPH.edges)
    skill, pay = graph["equations"]
    assert (skill["effect"], skill["causes"]) == ("skill", ["study"])
    assert skill["words"].startswith("Skill follows from study, by ")
    assert 0.4 < skill["residual"] < 0.6  # the noise of skill is 0.5, that of pay 1
    assert 0.8 < pay["residual"] < 1.2
    assert skill["words"].endswith(f"typically {skill['residual']:.2g}.")
    assert CausalGraph.from_dagitty(graph["dagitty"]).edges == STUDY_GRAPH.edges


def test_a_learned_graph_is_not_told_as_the_truth(private_api: ExplainerApi) -> None:
    graph = private_api.graph("auditor")
    assert graph["origin"] == "discovered"
    assert "learned from data (discovered by direct_lingam) and may be wrong" in graph["words"]
    assert [edge["confidence"] for edge in graph["edges"]] == [0.9, 0.9]


def test_without_a_graph_nothing_follows_and_one_can_be_drawn(hostile_api: ExplainerApi) -> None:
    graph = hostile_api.graph()
    assert graph["origin"] is None
    assert (graph["edges"], graph["equations"]) == ([], [])
    assert graph["can_edit"]
    first, second, *_ = (feature["name"] for feature in hostile_api.schema()["features"])
    answer = hostile_api.check_graph(edges=[[first, second]])
    assert answer["ok"]
    assert hostile_api.check_graph(dagitty=answer["dagitty"])["edges"] == [[first, second]]


def test_a_checked_graph_comes_back_in_its_canonical_form(study: ExplainerApi) -> None:
    answer = study.check_graph(dagitty="dag { skill -> pay study -> skill\nskill -> pay }")
    assert answer["ok"]
    assert answer["edges"] == [["study", "skill"], ["skill", "pay"]]
    assert study.check_graph(dagitty=answer["dagitty"]) == answer
    assert study.check_graph(edges=answer["edges"]) == answer


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ("dag { study => skill }", 13, "'>' does not belong here"),
        ("dag { study -> skil }", None, "Did you mean 'skill'?"),
        ("dag { study -> skill -> study }", None, "cycle"),
        ("dag { study <-> skill }", 12, "unmeasured common cause"),
        ("dag {" + "->".join(f"n{number}" for number in range(9_000)) + "}", None, "edges"),
    ],
)
def test_what_is_wrong_with_a_text_has_its_place(
    study: ExplainerApi, text: str, position: int | None, words: str
) -> None:
    answer = study.check_graph(dagitty=text)
    assert not answer["ok"]
    assert words in answer["error"]
    if position is not None:
        assert answer["position"] == position
    assert (answer["edges"], answer["dagitty"]) == ([], "")


def test_what_follows_depends_on_the_edited_graph(study: ExplainerApi) -> None:
    row = {"study": 5.0, "skill": 5.0, "pay": 10.0}
    own = study.what_if(row=row, changes={"study": 7.0})
    assert [moved["feature"] for moved in own["consequences"]] == ["skill", "pay"]
    assert own["row"]["pay"] == pytest.approx(14, abs=0.5)
    edited = study.what_if(row=row, changes={"study": 7.0}, graph={"edges": [["study", "skill"]]})
    assert [moved["feature"] for moved in edited["consequences"]] == ["skill"]
    assert edited["row"]["pay"] == 10.0
    none = study.what_if(row=row, changes={"study": 7.0}, graph={"edges": []})
    assert none["consequences"] == []


def test_an_edited_graph_is_marked_and_told_as_given_by_a_person(study: ExplainerApi) -> None:
    request = {
        "rows": [{"study": 5.0, "skill": 5.0, "pay": 10.0}],
        "graph": {"edges": [["study", "skill"]]},
        "n": 1,
    }
    document = study.explain(request)["results"]["auditor"]
    ways = study.ways(document, request)
    assert ways["graph"]["edited"]
    assert ways["graph"]["edges"] == [["study", "skill"]]
    cautions = [line["text"] for line in ways["ways"][0]["lines"] if line["kind"] == "caution"]
    assert cautions == [
        "This describes what the model says at these values; it is not a promise. The causal graph"
        " was edited by a person for this question, not learned."
    ]
    assert "edited by a person for this question" in study.report(document)
    same = {**request, "graph": {"edges": [list(edge) for edge in STUDY_GRAPH.edges]}}
    unchanged = study.explain(same)["results"]["auditor"]
    assert not study.ways(unchanged, same)["graph"]["edited"]


def test_a_learned_graph_stays_learned_when_it_is_edited(private_api: ExplainerApi) -> None:
    graph = private_api._graphs.read({"edges": [["tests", "skill"]]}, private_api._role("auditor"))
    assert str(graph.origin) == "discovered by direct_lingam, then edited"
    assert graph.origin.discovered


def test_the_last_few_graphs_are_fitted_once(
    study: ExplainerApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    explainer = study._graphs.explainer
    fits: list[Any] = []
    with_graph = explainer.with_graph
    monkeypatch.setattr(
        explainer, "with_graph", lambda *given: fits.append(given) or with_graph(*given)
    )
    row = {"study": 5.0, "skill": 5.0, "pay": 10.0}
    for edges in ([["pay", "skill"]], [["skill", "study"]], [["pay", "skill"]]):
        study.what_if(row=row, graph={"edges": edges})
    assert len(fits) == 2


def test_without_the_training_rows_no_graph_can_be_edited(study: ExplainerApi) -> None:
    fitted = study._fitted
    left_out = replace(fitted, rows=fitted.rows[:0], left_out=RowsLeftOut(200, "0" * 64))
    bare = ExplainerApi(study._graphs.explainer._sharing(left_out))
    assert not bare.graph()["can_edit"]
    with pytest.raises(RequestError, match="saved without the rows") as caught:
        bare.check(
            {
                "rows": [{"study": 5.0, "skill": 5.0, "pay": 10.0}],
                "graph": {"edges": [["study", "skill"]]},
            }
        )
    assert caught.value.field == "graph"
    assert not bare.check_graph(edges=[["study", "skill"]])["ok"]


def test_that_a_graph_was_edited_survives_json(tmp_path: Path) -> None:
    for origin in (Origin(edited=True), Origin("pc", {}, ("hm",), edited=True), Origin("pc")):
        graph = CausalGraph([("a", "b")], origin=origin)
        assert CausalGraph.from_json(graph.to_json()).origin == origin
