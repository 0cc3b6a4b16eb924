"""The static page and the reference of the routes, without any worker."""

import asyncio
import re

import httpx
import pytest

from proce.server.routes.page import PAGE

from ..live import bare_app


def get(path: str, headers: dict[str, str] | None = None) -> httpx.Response:
    """Return the answer of an application that has nothing but its routes."""

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(bare_app())
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.get(path, headers=headers)

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/page/main.js", "text/javascript; charset=utf-8"),
        ("/page/style/base.css", "text/css; charset=utf-8"),
        ("/page/icon.svg", "image/svg+xml"),
        ("/page/vendor/LICENSES.txt", "text/plain; charset=utf-8"),
    ],
)
def test_files_of_the_page_are_sent_with_their_types(path: str, kind: str) -> None:
    answer = get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, kind)


def test_a_file_is_sent_once_to_who_has_it() -> None:
    first = get("/page/main.js")
    tag = first.headers["etag"]
    assert re.fullmatch(r'"[0-9a-f]{32}"', tag)
    again = get("/page/main.js", {"if-none-match": tag})
    assert (again.status_code, again.content) == (304, b"")
    assert get("/page/main.js", {"if-none-match": '"other"'}).content == first.content


@pytest.mark.parametrize(
    "path",
    [
        "/page/nothing.js",
        "/page/vendor",
        "/page/",
        "/page/../routes/templates/reference.html",
        "/page/%2e%2e/routes/templates/reference.html",
        "/page/..%2froutes/templates/reference.html",
        "/page/vendor/%2e%2e/%2e%2e/routes/templates/reference.html",
        "/page/%2fetc%2fpasswd",
        "/page/main.js%00.css",
        "/page/core\\state.js",
    ],
)
def test_nothing_but_files_of_the_page_is_sent(path: str) -> None:
    answer = get(path)
    assert answer.status_code == 404
    assert set(answer.json()) == {"message", "fields"}


def test_the_page_has_no_inline_script_or_style_and_asks_nobody_else() -> None:
    for text in (get("/").text, get("/docs").text):
        assert not re.search(r"<script(?![^>]*\bsrc=)", text)
        assert not re.search(r"<style|\sstyle=|\son\w+=", text)
        assert not re.search(r"(src|href)=\"(https?:)?//", text)


def test_every_file_that_the_page_names_is_there() -> None:
    names = re.findall(r"(?:src|href)=\"page/([^\"]+)\"", get("/").text + get("/docs").text)
    assert "main.js" in names
    assert [name for name in names if not (PAGE / name).is_file()] == []


def test_the_reference_names_every_route_and_every_model() -> None:
    document, text = get("/openapi.json").json(), get("/docs").text
    routes = [
        f"{method.upper()} {path}"
        for path, methods in document["paths"].items()
        for method in methods
    ]
    assert len(routes) >= 20
    assert [route for route in routes if f"<code>{route}</code>" not in text] == []
    models = document["components"]["schemas"]
    assert [name for name in models if f'<section id="{name}">' not in text] == []


def test_an_unknown_address_and_a_wrong_method_are_told_in_words() -> None:
    answer = get("/nothing")
    assert answer.status_code == 404
    assert answer.json()["message"].startswith("There is nothing under this address")
    assert get("/what-if").status_code == 405
