"""What an applicant is told has no protected feature in it, whatever is asked."""

import json
from typing import Any

import pytest

from proce.errors import ProceError
from proce.server.explainer_api.api import ExplainerApi
from proce.server.explainer_api.errors import RequestError

VIEWS: tuple[Any, ...] = ("applicant", "auditor")
SECRETS = (
    "birthplace",
    "north",
    "south",
)  # the protected feature of the private api, and its levels


@pytest.fixture(scope="module")
def unready(private_api: ExplainerApi) -> int:
    """A row of the file that is not ready yet."""
    page = private_api.rows(prediction="0", where="x.study < 6", sort="probability")
    return int(page["rows"][0]["row"])


@pytest.fixture(scope="module")
def answered(private_api: ExplainerApi, unready: int) -> tuple[dict[str, Any], dict[str, Any]]:
    request = {"row_ids": [unready, *range(3)], "target": 1, "view": "auditor"}
    request["row_ids"] = list(dict.fromkeys(request["row_ids"]))  # type: ignore[arg-type]
    return request, private_api.explain(request)


def tells_secrets(answer: Any) -> bool:
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return any(secret in text.lower() for secret in SECRETS)


@pytest.mark.parametrize("view", ["applicant", "auditor"])
def test_only_an_auditor_is_told_of_a_protected_feature(
    private_api: ExplainerApi,
    answered: tuple[dict[str, Any], dict[str, Any]],
    unready: int,
    view: Any,
) -> None:
    request, finished = answered
    document = finished["results"]["auditor"]
    changes = {"study": 9.5}
    answers = [
        private_api.schema(view),
        private_api.graph(view),
        private_api.rows(view=view),
        private_api.what_if(row_id=unready, changes=changes, view=view),
        private_api.ways(document, request, 0, view),
        private_api.report(document, view),
        private_api.csv(document, view),
        finished["results"][view],
    ]
    assert [tells_secrets(answer) for answer in answers] == [view == "auditor"] * len(answers)
    # Nobody is sent a letter about it.
    assert not tells_secrets(private_api.letter(document, view=view))
    assert not tells_secrets(private_api.cohort(document, request, "tests", view)["features"])


def test_every_row_of_a_result_is_told_without_it(
    private_api: ExplainerApi, answered: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    request, finished = answered
    for document in finished["results"].values():
        for row in range(len(request["row_ids"])):
            assert not tells_secrets(private_api.ways(document, request, row))


def test_how_many_features_are_withheld_is_told(
    private_api: ExplainerApi, loan_api: ExplainerApi
) -> None:
    assert private_api.schema()["withheld"] == 1
    assert private_api.schema("auditor")["withheld"] == 0
    assert [f["name"] for f in private_api.schema()["features"]][:2] == ["study", "skill"]
    assert private_api.schema()["rules"] == ["cf.study >= x.study"]
    assert loan_api.schema()["withheld"] == 1


def test_the_views_share_a_text_where_nothing_is_protected(hostile_api: ExplainerApi) -> None:
    results = hostile_api.explain({"row_ids": [0], "n": 1})["results"]
    assert results["applicant"] is results["auditor"]


REFUSED: dict[str, dict[str, Any]] = {
    "vary[0]": {"vary": ["birthplace"]},
    "ranges.birthplace": {"ranges": {"birthplace": ["north", "south"]}},
    "effort.birthplace": {"effort": {"birthplace": 2}},
    "rules[0]": {"rules": ["cf.birthplace == 'north'"]},
    "values.birthplace": {"values": {"birthplace": "north"}},
    "graph.edges": {"graph": {"edges": [["birthplace", "skill"]]}},
    "graph.dagitty": {"graph": {"dagitty": "dag { birthplace -> skill }"}},
}


@pytest.mark.parametrize("field", REFUSED)
def test_for_an_applicant_the_feature_does_not_exist(private_api: ExplainerApi, field: str) -> None:
    request = {"row_ids": [0], "target": 1, "view": "applicant", **REFUSED[field]}
    with pytest.raises(RequestError) as caught:
        private_api.check(request)
    assert caught.value.field == field
    told = caught.value.message.replace("'birthplace'", "").replace("cf.birthplace == 'north'", "")
    assert "birthplace" not in told  # but for the name that the applicant gave


@pytest.mark.parametrize(
    "options", [{"sort": "birthplace"}, {"where": "x.birthplace == 'north'"}], ids=["sort", "where"]
)
def test_an_applicant_cannot_look_for_it(
    private_api: ExplainerApi, options: dict[str, str]
) -> None:
    with pytest.raises(RequestError) as caught:
        private_api.rows(**options)  # type: ignore[arg-type]
    assert caught.value.field in options
    assert private_api.rows(view="auditor", **options)["total"] > 0  # type: ignore[arg-type]


def test_groups_by_it_are_for_an_auditor(
    private_api: ExplainerApi, answered: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    request, finished = answered
    document = finished["results"]["auditor"]
    with pytest.raises(RequestError, match="no feature 'birthplace'"):
        private_api.cohort(document, request, "birthplace")
    groups = private_api.cohort(document, request, "birthplace", "auditor")["groups"]
    assert {group["label"] for group in groups} <= {"north", "south"}


def test_an_applicants_text_has_nothing_more_for_an_auditor(
    private_api: ExplainerApi, answered: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    request, finished = answered
    told = private_api.ways(finished["results"]["applicant"], request, 0, "auditor")
    assert not tells_secrets(told)


def test_a_typed_row_without_what_the_view_withholds_is_refused(private_api: ExplainerApi) -> None:
    values = {"study": 3.0, "skill": 3.0, "tests": None, "member": True}
    with pytest.raises(RequestError, match="reads 1 more feature than this view shows") as caught:
        private_api.what_if(row=values)
    assert caught.value.field == "row"
    whole = {**values, "birthplace": "north"}
    assert private_api.what_if(row=whole, view="auditor")["row"] == whole


def test_hidden_arrows_stay_when_an_applicant_edits(
    private_api: ExplainerApi, unready: int
) -> None:
    graph = {"edges": [["study", "skill"], ["study", "tests"]]}
    request = {"row_ids": [unready], "target": 1, "graph": graph, "view": "applicant"}
    document = private_api.explain(request)["results"]["auditor"]
    edges = private_api.ways(document, request, 0, "auditor")["graph"]["edges"]
    assert ["birthplace", "skill"] in edges
    assert private_api.ways(document, request)["graph"]["edges"] == graph["edges"]


def test_a_cycle_through_hidden_arrows_is_refused_without_naming_them(
    loan_api: ExplainerApi,
) -> None:
    # In the loan's graph sex is a cause of job, and of nothing that is hidden too.
    whole = loan_api.graph("auditor")["edges"]
    assert {"cause": "sex", "effect": "job", "confidence": None} in whole
    answer = loan_api.check_graph(edges=[["job", "income"], ["income", "job"]])
    assert not answer["ok"]
    assert "sex" not in answer["error"]


def test_an_error_of_a_rule_that_is_withheld_does_not_quote_it(private_api: ExplainerApi) -> None:
    request = {"row_ids": [0], "target": 1, "rules": ["cf.study < x.study"]}
    for view in ("applicant", "auditor"):
        with pytest.raises(ProceError) as caught:
            private_api.check({**request, "view": view})
        assert "birthplace" not in str(caught.value)


def test_a_patch_has_nothing_of_the_request_that_is_withheld(private_api: ExplainerApi) -> None:
    rules = ["cf.birthplace == x.birthplace", "cf.study <= x.study", "cf.tests == x.tests"]
    page = private_api.rows(prediction="0", where="x.tests < 20", view="auditor")
    request = {"row_ids": [page["rows"][0]["row"]], "target": 1, "rules": rules}
    document = private_api.explain(request)["results"]["auditor"]
    shown = {view: private_api.ways(document, request, 0, view) for view in VIEWS}
    patches = {
        view: [b["patch"] for b in ways["diagnosis"]["blockers"] if b["patch"]]
        for view, ways in shown.items()
    }
    assert patches["auditor"]
    assert all(rules[0] in patch["rules"] for patch in patches["auditor"])
    assert not tells_secrets(shown["applicant"])
