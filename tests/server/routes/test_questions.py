"""Questions through a live service; each is answered at once."""

from typing import Any

import httpx

from ..live import body_of


def test_the_service_is_up_and_says_what_it_allows(client: httpx.Client) -> None:
    health = body_of(client.get("/health"))
    assert health["status"] == "ok"
    assert health["workers"]["ready"] == health["workers"]["total"] == 3
    assert health["queue"] == {"length": 0, "limit": 64}
    session = body_of(client.get("/session"))
    assert (session["role"], session["token_required"], session["has_rows"]) == (
        "auditor",
        False,
        True,
    )
    assert set(session["limits"]) == {"rows", "n", "rules", "seconds", "body_bytes"}


def test_the_schema_has_the_operators_title(client: httpx.Client) -> None:
    schema = body_of(client.get("/schema"))
    assert schema["title"] == "Loans"
    assert [one["value"] for one in schema["classes"]] == ["approved", "rejected"]
    assert schema["withheld"] == 1


def test_rows_are_paged_filtered_and_sorted(client: httpx.Client) -> None:
    query: dict[str, Any] = {"where": "x.age > 40", "sort": "age", "descending": True, "limit": 3}
    page = body_of(client.get("/rows", params=query))
    ages = [row["values"]["age"] for row in page["rows"]]
    assert ages == sorted(ages, reverse=True)
    assert min(ages) > 40
    assert page["total"] > 3
    wrong = client.get("/rows", params={"where": "x.agee > 40"})
    assert body_of(wrong, 422)["fields"][0]["field"] == "where"


def test_a_pasted_line_becomes_a_row(client: httpx.Client) -> None:
    row = body_of(client.get("/rows", params={"limit": 1, "view": "auditor"}))["rows"][0]["values"]
    text = ",".join(row) + "\n" + ",".join(str(value) for value in row.values())
    parsed = body_of(client.post("/rows/parse", json={"text": text}, params={"view": "auditor"}))
    assert parsed["values"] == row
    wrong = client.post("/rows/parse", json={"text": "one,two"})
    assert body_of(wrong, 422)["message"]


def test_a_what_if_moves_the_decision_and_tells_what_follows(client: httpx.Client) -> None:
    answer = body_of(client.post("/what-if", json={"row_id": 0, "changes": {"savings": 20000}}))
    assert answer["changes"][0]["feature"] == "savings"
    assert answer["row"]["savings"] == 20000
    same = body_of(client.post("/what-if", json={"row_id": 0}))
    assert same["before"] == same["after"] == answer["before"]
    wrong = client.post("/what-if", json={"row_id": 0, "changes": {"savigns": 1}})
    assert body_of(wrong, 422)["fields"][0]["field"] == "changes.savigns"


def test_rules_and_graphs_are_checked_as_they_are_typed(client: httpx.Client) -> None:
    rules = ["cf.age >= x.age", "cf.age >", "cf.nothing > 1", ""]
    checked = body_of(client.post("/rules/check", json={"rules": rules}))["rules"]
    assert [one["ok"] for one in checked] == [True, False, False, False]
    assert checked[1]["position"] is not None
    graph = body_of(client.get("/graph"))
    same = body_of(client.post("/graph/check", json={"dagitty": graph["dagitty"]}))
    assert same["ok"]
    circle = {"edges": [["income", "savings"], ["savings", "income"]]}
    assert not body_of(client.post("/graph/check", json=circle))["ok"]


def test_metrics_count_requests_by_their_route(client: httpx.Client) -> None:
    client.get("/explanations/0123")
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'route="/explanations/{record_id}"' in answer.text
    assert "0123" not in answer.text
    assert "proce_queue_length 0.0" in answer.text
    assert 'proce_workers{state="total"} 3.0' in answer.text


def test_every_answer_has_security_headers(client: httpx.Client) -> None:
    for path in ("/", "/docs", "/health", "/nothing"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe-inline" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
