"""What a page draws for one row: ways in words, consequences below their causes, the front."""

import json
from typing import Any

import numpy as np
import pytest

from proce import Explanations
from proce.explanation import Fronts
from proce.explanation.record.context import Context
from proce.explanation.record.counterfactuals import Change
from proce.explanation.row_view import change_view, front_of, row_view
from proce.explanation.words.cells import ChangedCell
from proce.schema import Codec, Schema
from proce.server.explainer_api.api import ExplainerApi
from proce.server.explainer_api.errors import RequestError
from proce.server.explainer_api.presenters.results import Results
from proce.server.explainer_api.presenters.ways import changes_in_order

from ....explanation.samples import CHANGE_JOB, RAISE_SAVINGS, explanation, people

Answer = tuple[dict[str, Any], str, dict[str, Any]]


@pytest.fixture(scope="module")
def answer(loan_api: ExplainerApi) -> Answer:
    """A request about three rows, its document, and the ways of the first of them."""
    rows = [row["row"] for row in loan_api.rows(prediction="rejected", limit=3)["rows"]]
    request = {"row_ids": rows, "target": "approved"}
    document = loan_api.explain(request)["results"]["auditor"]
    return request, document, loan_api.ways(document, request, 0, "auditor")


def test_the_row_and_the_decision_are_told(answer: Answer) -> None:
    request, _, ways = answer
    assert ways["row_id"] == request["row_ids"][0]
    assert ways["label"] == ways["id"] == f"C{request['row_ids'][0]}"
    decision = ways["decision"]
    assert (decision["predicted"], decision["target"]) == ("rejected", "approved")
    assert decision["sentence"].startswith("The model says rejected; the probability of approved")
    assert {"feature", "label", "value", "text"} == ways["values"][0].keys()


def test_ways_have_the_words_of_the_result_itself(loan_api: ExplainerApi, answer: Answer) -> None:
    _, document, ways = answer
    result = Explanations.from_json(document)
    assert ways["outcome"] == "found"
    for way in ways["ways"]:
        texts = [line["text"] for line in way["lines"]]
        assert texts == result[0].sentences(way["rank"], view="auditor")
        actions = [line["text"] for line in way["lines"] if line["kind"] == "action"]
        by_hand = [c["sentence"] for c in way["changes"] if c["kind"] in ("action", "hold")]
        waits = [c["sentence"] for c in way["changes"] if c["kind"] == "wait" and not c["depth"]]
        assert sorted(actions) == sorted(by_hand + waits)


def test_every_consequence_stands_below_one_of_its_causes(answer: Answer) -> None:
    _, _, ways = answer
    edges = {tuple(edge) for edge in ways["graph"]["edges"]}
    n_consequences = 0
    for way in ways["ways"]:
        above: list[str] = []  # the causes of the present line, from the outermost
        for change in way["changes"]:
            above = above[: change["depth"]]
            if change["kind"] == "consequence":
                n_consequences += 1
                assert above[-1] in change["causes"]
                assert all((cause, change["feature"]) in edges for cause in change["causes"])
            else:
                assert change["depth"] == 0
            above.append(change["feature"])
    assert n_consequences > 0
    moved = {c["feature"]: c["kind"] for c in ways["ways"][0]["changes"]}
    assert ways["graph"]["moved"] == moved


def cell(schema: Schema, name: str, kind: Change, size: float = 0.1) -> ChangedCell:
    position = schema.position(name)
    return ChangedCell(position, schema[name], kind, 1.0, 2.0, 1.0, size)


def told(cells: list[ChangedCell], context: Context) -> list[tuple[str, int, list[str]]]:
    changes = [change_view(cell, context) for cell in cells]
    return [(c.name, depth, causes) for c, causes, depth in changes_in_order(changes, context)]


def test_a_consequence_of_a_consequence_is_two_deep() -> None:
    import pandas as pd

    frame = pd.DataFrame({name: [0.0, 5.0, 10.0] for name in "abcde"})
    schema = Schema.infer(frame)
    edges = (("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("e", "d"))
    context = Context(Codec.fit(schema, frame), (0, 1), (0.5, 0.5), edges=edges, origin="given")
    action, effect = Change.ACTION, Change.CONSEQUENCE
    cells = [cell(schema, "a", action), *(cell(schema, name, effect) for name in "dcb")]
    assert told(cells, context) == [
        ("a", 0, []),
        ("c", 1, ["a", "b"]),
        ("d", 2, ["c"]),
        ("b", 1, ["a"]),
    ]
    # Where the cause is not shown, the consequence is not lost.
    alone = [cell(schema, "a", action), cell(schema, "e", effect)]
    assert told(alone, context) == [("a", 0, []), ("e", 1, [])]


def test_the_front_has_the_told_ways_and_what_else_was_found(answer: Answer) -> None:
    _, document, ways = answer
    front = ways["front"]
    ranks = [member["rank"] for member in front if member["rank"] is not None]
    assert ranks == [way["rank"] for way in ways["ways"]]
    for member, way in zip(front, ways["ways"], strict=False):
        assert member["probability"] == way["probability"]
        assert {c["feature"] for c in member["changes"]} == {c["feature"] for c in way["changes"]}
    kept = Explanations.from_json(document)[0].front
    assert kept is not None
    others = [member for member in front if member["rank"] is None]
    assert len(others) <= len(kept) <= len(front)
    keys = {axis["key"] for axis in ways["axes"]}
    assert all(keys <= member.keys() for member in front)
    for member in others:
        by_hand = [c for c in member["changes"] if c["kind"] in ("action", "hold", "wait")]
        assert member["n_actions"] == len(by_hand) > 0
        assert 0 < member["probability"] < 1


def test_a_told_way_is_in_the_front_once_where_a_cell_is_missing() -> None:
    frame = people().assign(ratio=np.nan)
    both = explanation(RAISE_SAVINGS, CHANGE_JOB, frame=frame)
    front = Fronts(np.zeros(len(both), np.int64), both.rows, both.losses, both.changes)
    explained = explanation(RAISE_SAVINGS, frame=frame, front=front)
    members = front_of(row_view(explained))
    assert [member.rank for member in members] == [1, None]


def test_what_a_front_changes_survives_json_and_is_guessed_in_older_texts(
    loan_api: ExplainerApi, answer: Answer
) -> None:
    request, document, ways = answer
    record = json.loads(document)
    front = record["explanations"][0]["front"]
    assert all(len(letters) == 12 for letters in front["changes"])
    assert set("".join(front["changes"])) <= set(".ahc")
    for explained in record["explanations"]:
        if explained["front"]:
            del explained["front"]["changes"]
    older = loan_api.ways(json.dumps(record), request, 0, "auditor")
    assert len(older["front"]) == len(ways["front"])
    indirect = {"years_employed", "credit_score"}  # which nobody can act on
    for member in older["front"]:
        kinds = {change["feature"]: change["kind"] for change in member["changes"]}
        assert all(kinds[name] == "consequence" for name in indirect & kinds.keys())


@pytest.mark.parametrize("changes", [["."], ["a" * 11], ["x" * 12], None])
def test_letters_that_do_not_fit_are_refused(answer: Answer, changes: Any) -> None:
    record = json.loads(answer[1])
    front = record["explanations"][0]["front"]
    front["changes"] = [*front["changes"][1:], *(changes or [])]
    with pytest.raises(ValueError, match=r"front\.changes"):
        Explanations.from_json(json.dumps(record))


def test_a_row_that_is_already_there_has_a_sentence_and_no_ways(loan_api: ExplainerApi) -> None:
    approved = loan_api.rows(prediction="approved", limit=1)["rows"][0]["row"]
    request = {"row_ids": [approved], "target": "approved"}
    ways = loan_api.ways(loan_api.explain(request)["results"]["applicant"], request)
    assert ways["outcome"] == "already_target"
    assert (ways["ways"], ways["front"], ways["diagnosis"]) == ([], [], None)
    assert ways["lines"][0]["kind"] == "outcome"
    assert ways["lines"][0]["text"].startswith("The model already says approved")


@pytest.mark.parametrize("row", [-1, 3])
def test_a_row_beyond_the_result_is_refused(
    loan_api: ExplainerApi, answer: Answer, row: int
) -> None:
    with pytest.raises(RequestError, match="the rows of this result are 0 to 2") as caught:
        loan_api.ways(answer[1], answer[0], row)
    assert caught.value.field == "row"


def test_a_result_is_read_once_by_view(answer: Answer) -> None:
    results = Results()
    first = results.read(answer[1], "auditor")
    assert results.read(answer[1], "auditor") is first
    other = results.read(answer[1], "applicant")
    assert np.array_equal(other.rows.positions, first.rows.positions)
    assert len(other.context.codec.schema) == len(first.context.codec.schema) - 1
