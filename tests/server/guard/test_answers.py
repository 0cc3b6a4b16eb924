"""Security headers."""

import pytest

from proce.server.guard.answers import PAGE_POLICY, REPORT_POLICY, SecurityHeaders

from .asgi import answering, call


def policy(text: str) -> dict[str, str]:
    """Return the parts of a content security policy."""
    parts = (part.strip().partition(" ") for part in text.split(";"))
    return {name: value for name, _, value in parts}


@pytest.mark.parametrize("status", [200, 404, 500])
def test_every_answer_has_the_headers(status: int) -> None:
    headers = call(SecurityHeaders(answering(status)), "/schema").headers
    assert headers["content-security-policy"] == PAGE_POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert "geolocation=()" in headers["permissions-policy"]


def test_the_page_may_run_its_own_scripts_and_talk_to_its_own_service_only() -> None:
    parts = policy(PAGE_POLICY)
    assert parts.pop("img-src") == "'self' data:"
    assert {name for name, value in parts.items() if value == "'self'"} == {
        "script-src",
        "style-src",
        "connect-src",
        "font-src",
    }
    rest = {value for name, value in parts.items() if value != "'self'"}
    assert rest == {"'none'"}


def test_a_report_has_its_own_style_in_a_sandbox_without_scripts() -> None:
    headers = call(SecurityHeaders(answering()), "/explanations/0123/report").headers
    parts = policy(headers["content-security-policy"])
    assert headers["content-security-policy"] == REPORT_POLICY
    assert (parts["style-src"], parts["sandbox"]) == ("'unsafe-inline'", "")
    assert "script-src" not in parts
    assert parts["default-src"] == "'none'"


def test_what_a_route_has_set_stays() -> None:
    given = [(b"Cache-Control", b"no-cache"), (b"etag", b'"1"')]
    headers = call(SecurityHeaders(answering(headers=given)), "/page/main.js").headers
    assert headers["Cache-Control"] == "no-cache"
    assert "cache-control" not in headers
