"""The OpenAPI document is complete: errors, descriptions, examples."""

import pytest

from ..live import bare_app

DOCUMENT = bare_app().openapi()
OPERATIONS = {
    f"{method.upper()} {path}": operation
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}
BODIES = {name for name in OPERATIONS if name.startswith("POST ")}


def test_the_routes_are_those_that_were_promised() -> None:
    assert set(OPERATIONS) >= {
        *("GET /health", "GET /session", "GET /schema", "GET /graph", "GET /rows"),
        *("POST /graph/check", "POST /rows/parse", "POST /what-if", "POST /rules/check"),
        *("POST /explanations", "POST /views"),
        *("GET /explanations", "GET /explanations/export", "GET /explanations/{record_id}"),
        *("DELETE /explanations/{record_id}", "GET /explanations/{record_id}/events"),
        *(f"GET /explanations/{{record_id}}/{name}" for name in ("ways", "cohort", "report")),
        *(f"GET /explanations/{{record_id}}/{name}" for name in ("letter", "csv", "json")),
        *("GET /views/{view_id}", "GET /metrics"),
    }


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_a_route_says_what_it_does_and_declares_its_errors(name: str) -> None:
    operation = OPERATIONS[name]
    assert operation["description"].endswith(".")
    expected = {"400", "401", "403", "422", "500", "503"}
    if name in BODIES:
        expected |= {"413", "415"}
    if "{" in name:
        expected |= {"404"}
    assert expected <= set(operation["responses"])
    for status, answer in operation["responses"].items():
        assert answer["description"] != "Successful Response", name
        if int(status) >= 400:
            schema = answer["content"]["application/json"]["schema"]
            assert schema == {"$ref": "#/components/schemas/ErrorAnswer"}
    for parameter in operation.get("parameters", []):
        assert parameter["description"], (name, parameter["name"])


@pytest.mark.parametrize("name", sorted(BODIES))
def test_a_body_has_an_example_and_refuses_what_it_does_not_know(name: str) -> None:
    content = OPERATIONS[name]["requestBody"]["content"]
    assert list(content) == ["application/json"]
    model = content["application/json"]["schema"]["$ref"].rpartition("/")[2]
    schema = DOCUMENT["components"]["schemas"][model]
    assert schema["examples"]
    assert schema["additionalProperties"] is False


def test_every_field_of_a_request_is_described() -> None:
    for name, schema in DOCUMENT["components"]["schemas"].items():
        assert schema["description"], name
        if name.endswith("Request"):
            for field, value in schema["properties"].items():
                assert value["description"], (name, field)
