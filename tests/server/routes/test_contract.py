"""Requests made from the OpenAPI document: no server error, and answers that are as declared."""

from typing import Any
from urllib.parse import quote, urlencode

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, assume, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from ..live import ANSWER_SECONDS, LiveServer, bare_app, explained

DOCUMENT = bare_app().openapi()
OPERATIONS = {
    found.ok().label: found.ok()
    for found in schemathesis.openapi.from_dict(DOCUMENT).get_all_operations()
}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
MAX_ADDRESS_BYTES = 30_000  # a larger head is refused before it is read to its end
WITHOUT_PARAMETERS = {"GET /health", "GET /session", "GET /metrics"}
QUICK, LONG = 5, 400  # requests of each route and mode


@pytest.fixture(scope="module")
def record_id(live_server: LiveServer) -> str:
    """A finished explanation, so that routes have something to answer with."""
    with live_server.client() as client:
        return str(explained(client, {"row_ids": [0, 1], "n": 1})["id"])


def try_out(
    server: LiveServer, label: str, mode: GenerationMode, n: int, record_id: str | None = None
) -> None:
    """Send requests made for a route; each answer must be as the document says."""

    @settings(
        max_examples=n,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=OPERATIONS[label].as_strategy(generation_mode=mode))
    def answers_are_as_declared(case: Any) -> None:
        if record_id is not None and "record_id" in case.path_parameters:
            case.path_parameters["record_id"] = record_id
        query = urlencode(case.query or {}, doseq=True)
        assume(len(query) + len(quote(case.formatted_path)) < MAX_ADDRESS_BYTES)
        case.call_and_validate(base_url=server.address, checks=CHECKS, timeout=ANSWER_SECONDS)

    answers_are_as_declared()


def try_all(server: LiveServer, label: str, record_id: str, n: int) -> None:
    """Send right requests, the same about a record that exists, and wrong ones."""
    try_out(server, label, GenerationMode.POSITIVE, n)
    if "record_id" in label:
        try_out(server, label, GenerationMode.POSITIVE, n, record_id)
    if label not in WITHOUT_PARAMETERS:
        try_out(server, label, GenerationMode.NEGATIVE, n)


@pytest.mark.parametrize("label", sorted(OPERATIONS))
def test_answers_are_as_declared(live_server: LiveServer, label: str, record_id: str) -> None:
    try_all(live_server, label, record_id, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("label", sorted(OPERATIONS))
def test_answers_to_many_more_requests_are_as_declared(
    live_server: LiveServer, label: str, record_id: str
) -> None:
    try_all(live_server, label, record_id, LONG)
