"""Metrics and the access log."""

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from proce.server.guard import Metrics
from proce.server.guard.metrics import AccessLog

from .asgi import answering, call


def routed(template: str, status: int = 200) -> Any:
    """Return an application whose router finds a route."""
    inside = answering(status)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scope["route"] = SimpleNamespace(path=template)
        await inside(scope, receive, send)

    return app


def test_requests_are_counted_by_template_method_and_status() -> None:
    metrics = Metrics()
    for number in range(3):
        call(AccessLog(routed("/explanations/{id}"), metrics), f"/explanations/{number}")
    call(AccessLog(routed("/explanations/{id}", 404), metrics), "/explanations/x", "DELETE")
    lines = metrics.text().splitlines()
    name = "proce_http_requests_total"
    labels = 'method="GET",route="/explanations/{id}",status="200"'
    assert f"{name}{{{labels}}} 3.0" in lines
    assert sum(line.startswith(name) for line in lines) == 2
    times = 'proce_http_request_seconds_count{method="GET",route="/explanations/{id}"} 3.0'
    assert times in lines


def test_a_histogram_counts_up_to_its_bounds() -> None:
    metrics = Metrics()
    for seconds in (0.004, 0.005, 0.2, 99.0):
        metrics.request("/", "GET", 200, seconds)
    found = {
        line.partition('le="')[2].partition('"')[0]: line.rpartition(" ")[2]
        for line in metrics.text().splitlines()
        if "_bucket" in line
    }
    assert (found["0.005"], found["0.1"], found["0.25"]) == ("2.0", "2.0", "3.0")
    assert (found["30.0"], found["+Inf"]) == ("3.0", "4.0")


def test_what_clients_send_cannot_make_the_metrics_grow() -> None:
    metrics = Metrics()
    for number in range(30):
        call(AccessLog(answering(404), metrics), f"/{number}", f"METHOD{number % 7}")
    text = metrics.text()
    assert 'method="OTHER",route="none",status="404"} 30.0' in text
    assert text.count("proce_http_requests_total{") == 1


def test_states_are_asked_for_when_the_metrics_are_read() -> None:
    metrics, length = Metrics(), [1]
    metrics.state("proce_queue_length", "Waiting.", lambda: length[0])
    length[0] = 5
    lines = metrics.text().splitlines()
    assert "proce_queue_length 5.0" in lines
    assert "# TYPE proce_queue_length gauge" in lines
    (memory,) = [line for line in lines if line.startswith("process_resident_memory_bytes")]
    assert float(memory.split()[1]) > 1e6
    assert not any("_created" in line for line in lines)


def test_two_services_of_a_process_count_for_themselves() -> None:
    first, second = Metrics(), Metrics()
    first.request("/", "GET", 200, 0.1)
    assert "proce_http_requests_total{" in first.text()
    assert "proce_http_requests_total{" not in second.text()


def test_the_log_has_no_query_no_token_and_no_body(caplog: pytest.LogCaptureFixture) -> None:
    headers = [("host", "localhost"), ("authorization", "Bearer secret-of-secrets")]
    with caplog.at_level(logging.INFO, "proce.access"):
        call(
            AccessLog(answering(), Metrics()),
            "/rows",
            "POST",
            headers,
            [b"body-of-values"],
            query_string=b"where=x.savings>3&token=secret-of-secrets",
            state={"role": "applicant"},
        )
    (line,) = caplog.messages
    assert line.startswith("POST /rows 200 ")
    assert line.endswith("applicant 192.0.2.7")
    assert not any(word in line for word in ("secret", "where", "body-of-values"))


def test_a_path_cannot_begin_a_line_of_its_own_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, "proce.access"):
        call(AccessLog(answering(), Metrics()), "/a\n\x1b[31mfake 200" + "x" * 999)
    (line,) = caplog.messages
    assert line.isprintable()
    assert len(line) < 300


def test_an_answer_that_never_came_is_counted_too() -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise ZeroDivisionError

    metrics = Metrics()
    with pytest.raises(ZeroDivisionError):
        call(AccessLog(broken, metrics))
    assert 'status="499"} 1.0' in metrics.text()
