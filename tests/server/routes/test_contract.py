"""Requests made from the OpenAPI document: no server error, and answers that are as declared."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from ..live import LiveServer

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
QUICK, LONG = 6, 400  # requests of each route
SLOW_ROUTES = ["/explanations/{record_id}/events"]  # a stream, which has tests of its own


@pytest.fixture(scope="session")
def api_schema(live_server: LiveServer) -> Any:
    config = schemathesis.Config()
    schema = schemathesis.openapi.from_url(f"{live_server.address}/openapi.json", config=config)
    return schema.exclude(path=SLOW_ROUTES)


schema = schemathesis.pytest.from_fixture("api_schema")


def limits(n: int) -> settings:
    return settings(
        max_examples=n,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


@schema.parametrize()
@limits(QUICK)
def test_answers_are_as_declared(case: Any) -> None:
    case.call_and_validate(checks=CHECKS)


@pytest.mark.slow
@schema.parametrize()
@limits(LONG)
def test_answers_are_as_declared_to_many_more_requests(case: Any) -> None:
    case.call_and_validate(checks=[*CHECKS, negative_data_rejection])
