"""Addresses, host headers and origins."""

from pathlib import Path

import pytest

from proce.errors import FileError
from proce.server.guard import is_loopback, require_safe_exposure
from proce.server.guard.exposure import HostCheck

from .asgi import answering, call


def status(
    host: str | None,
    *,
    listens: str = "127.0.0.1",
    allowed: tuple[str, ...] = (),
    method: str = "GET",
    **headers: str,
) -> int:
    sent = [("host", host)] if host is not None else []
    sent += [(name.replace("_", "-"), value) for name, value in headers.items()]
    return call(HostCheck(answering(), listens, allowed), "/", method, sent).status


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8000", "localhost", "LOCALHOST:80", "[::1]:8000", "localhost.:1"]
)
def test_the_names_of_loopback_are_known(host: str) -> None:
    assert status(host) == 200


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example",
        "evil.example:8000",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "evil.example#127.0.0.1",
        "127.0.0.1@evil.example",
        "user@127.0.0.1",
        "192.0.2.1",
        "127.0.0.1:port",
        "[::1",
        "localhost, evil.example",
        "\xff",
    ],
)
def test_foreign_names_and_malformed_headers_are_refused(host: str | None) -> None:
    assert status(host) == 400


def test_a_refusal_has_the_form_of_every_error_and_never_reaches_the_application() -> None:
    app = answering()
    answer = call(HostCheck(app, "127.0.0.1"), headers=[("host", "evil.example")])
    assert "--allowed-host NAME" in answer.message
    assert app.seen == []


@pytest.mark.parametrize("host", ["evil.example/", "1.2.3.4, 5.6.7.8", "[::1", "1.2.3.4@evil"])
def test_beyond_loopback_a_malformed_header_is_no_number(host: str) -> None:
    assert status(host, listens="0.0.0.0") == 400


@pytest.mark.parametrize("name", ["*", "*.bank.example"])
def test_allowed_names_are_written_out(name: str) -> None:
    with pytest.raises(FileError, match="has a star; write every name out"):
        require_safe_exposure("127.0.0.1", None, [name])


def test_beyond_loopback_numbers_are_taken_and_names_must_be_allowed() -> None:
    assert status("192.0.2.1:8000", listens="0.0.0.0") == 200
    assert status("[2001:db8::1]:8000", listens="::") == 200
    assert status("bank.example", listens="0.0.0.0") == 400
    assert status("Bank.Example:443", listens="0.0.0.0", allowed=("bank.example",)) == 200
    assert status("bank.example", listens="bank.example") == 200


def test_a_write_from_the_page_itself_or_from_a_program_is_let_in() -> None:
    own = "http://localhost:8000"
    assert status("localhost:8000", method="POST", origin=own, sec_fetch_site="same-origin") == 200
    assert status("localhost:8000", method="DELETE") == 200
    assert status("localhost", method="POST", origin="http://localhost:80") == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://localhost:3000",
        "http://127.0.0.1:8000",
        "null",
        "",
        "file://",
        "http://localhost:port",
        "http://[",
        "http://[x]",
        "http://localhost:8000.evil.example",
    ],
)
@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_a_write_from_another_origin_is_refused(origin: str, method: str) -> None:
    assert status("localhost:8000", method=method, origin=origin) == 403
    assert status("localhost:8000", method="GET", origin=origin) == 200


def test_a_cross_site_write_without_an_origin_is_refused() -> None:
    assert status("localhost:8000", method="POST", sec_fetch_site="cross-site") == 403


def test_behind_a_proxy_an_allowed_name_may_write() -> None:
    allowed = ("bank.example",)
    origin = "https://bank.example"
    assert status("127.0.0.1:8000", method="POST", allowed=allowed, origin=origin) == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_needs_no_token(host: str) -> None:
    assert is_loopback(host)
    require_safe_exposure(host, None)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "bank.example", ""])
def test_any_other_address_needs_a_token_file(host: str) -> None:
    with pytest.raises(FileError, match="--token-file"):
        require_safe_exposure(host, None)
    require_safe_exposure(host, Path("tokens"))
