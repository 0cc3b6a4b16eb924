"""Getting a data file: from which place, and what is said when it cannot be had."""

import gzip
import logging
import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from proce.datasets.fetch import DataFile, fetch
from proce.errors import DatasetError, DownloadError
from proce.files import cache_folder

from ..failing_disk import BROKEN, FULL, READ_ONLY, FailingDisk, use

CONTENT = b"1, 2, 3\n" * 5_000


class Publisher(BaseHTTPRequestHandler):
    """Serves the content whole, or in one of the ways in which it can go wrong."""

    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.path == "/absent":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT) + (self.path == "/long")))
        self.end_headers()
        if self.path == "/silent":
            time.sleep(1)
        elif self.path == "/slow":
            self.drip()
        else:
            bodies = {"/short": CONTENT[:1000], "/wrong": CONTENT[::-1], "/long": CONTENT + b"!"}
            self.wfile.write(bodies.get(self.path, CONTENT))

    def drip(self) -> None:
        for byte in CONTENT[:100]:
            try:
                self.wfile.write(bytes([byte]))
            except OSError:
                return
            time.sleep(0.02)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(Publisher, "asked", [], raising=False)
    with ThreadingHTTPServer(("127.0.0.1", 0), Publisher) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("PROCE_DATA", raising=False)
    monkeypatch.setenv("PROCE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    (folder / "toy").mkdir(parents=True)
    monkeypatch.setenv("PROCE_DATA", str(folder))
    return folder


def published(url: str) -> DataFile:
    return DataFile("toy/toy.csv", url, sha256(CONTENT).hexdigest(), len(CONTENT))


NOWHERE = published("http://127.0.0.1:9/never-asked")


def test_a_file_is_downloaded_once_and_then_read_from_the_cache(url: str, cache: Path) -> None:
    assert fetch(published(f"{url}/toy.csv")) == CONTENT
    assert (cache / "toy" / "toy.csv").read_bytes() == CONTENT
    assert fetch(published(f"{url}/toy.csv")) == CONTENT
    assert Publisher.asked == ["/toy.csv"]
    assert os.listdir(cache / "toy") == ["toy.csv"]


@pytest.mark.parametrize("compressed", [True, False])
def test_a_copy_in_the_data_folder_comes_first(data: Path, compressed: bool) -> None:
    name, content = ("toy.csv.gz", gzip.compress(CONTENT)) if compressed else ("toy.csv", CONTENT)
    (data / "toy" / name).write_bytes(content)
    assert fetch(NOWHERE) == CONTENT


def test_a_data_folder_without_the_file_is_passed_over(url: str, data: Path) -> None:
    assert fetch(published(f"{url}/toy.csv")) == CONTENT


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("toy.csv", CONTENT[:-1], "it ends after 39,999 of 40,000 bytes"),
        ("toy.csv", CONTENT + b"!", "it is longer than the expected 40,000 bytes"),
        ("toy.csv", CONTENT[::-1], "its SHA-256 sum is"),
        ("toy.csv.gz", gzip.compress(CONTENT, mtime=0)[:-20], "not a whole gzip file"),
        ("toy.csv.gz", CONTENT, "not a whole gzip file"),
        (
            "toy.csv.gz",
            gzip.compress(bytes(10_000_000), mtime=0),
            "longer than the expected 40,000 bytes",
        ),
    ],
)
def test_a_damaged_copy_in_the_data_folder_is_an_error(
    data: Path, name: str, content: bytes, reason: str
) -> None:
    (data / "toy" / name).write_bytes(content)
    with pytest.raises(DownloadError, match=reason) as caught:
        fetch(NOWHERE)
    assert str(data / "toy" / name) in str(caught.value)
    assert NOWHERE.url in str(caught.value)


def test_a_damaged_copy_in_the_cache_is_replaced(
    url: str, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (cache / "toy").mkdir(parents=True)
    (cache / "toy" / "toy.csv").write_bytes(CONTENT[:99])
    assert fetch(published(f"{url}/toy.csv")) == CONTENT
    assert (cache / "toy" / "toy.csv").read_bytes() == CONTENT
    assert "it ends after 99 of 40,000 bytes" in caplog.text


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/short", "it ends after 1,000 of 40,000 bytes"),
        ("/long", "it is longer than the expected 40,000 bytes"),
        ("/wrong", "its SHA-256 sum is [0-9a-f]{64}; expected [0-9a-f]{64}"),
        ("/absent", "the server answered 404 Not Found"),
    ],
)
def test_a_download_that_goes_wrong_says_how_and_leaves_nothing(
    url: str, cache: Path, path: str, reason: str
) -> None:
    with pytest.raises(DownloadError, match=reason) as caught:
        fetch(published(url + path))
    message = str(caught.value)
    assert "PROCE_DATA, which is not set" in message
    assert str(cache) in message
    assert url + path in message
    assert "Download it by hand" in message
    assert not cache.exists()


def test_without_a_network_the_error_says_where_the_file_belongs(cache: Path, data: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(DownloadError, match="the server cannot be reached") as caught:
            fetch(published(f"http://127.0.0.1:{port}/toy.csv"))
    assert f"PROCE_DATA ({data})" in str(caught.value)
    assert str(cache / "toy" / "toy.csv") in str(caught.value)
    assert isinstance(caught.value, DatasetError)
    assert isinstance(caught.value, OSError)


def test_a_silent_server_is_given_up(url: str) -> None:
    with pytest.raises(DownloadError, match="timed out"):
        fetch(published(f"{url}/silent"), timeout_seconds=0.1)


def test_a_slow_server_is_given_up(url: str) -> None:
    with pytest.raises(DownloadError, match=r"only \d+ of 40,000 bytes in 0\.2 seconds"):
        fetch(published(f"{url}/slow"), max_seconds=0.2)


def test_without_a_cache_the_data_is_still_good(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "occupied").write_text("not a folder")
    monkeypatch.setenv("PROCE_CACHE", str(tmp_path / "occupied"))
    with caplog.at_level(logging.WARNING, "proce"):
        assert fetch(published(f"{url}/toy.csv")) == CONTENT
    assert "cannot be kept" in caplog.text
    assert (tmp_path / "occupied").read_text() == "not a folder"


def test_a_copy_that_cannot_be_moved_into_place_leaves_no_half_file(
    url: str, cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", refuse)
    assert fetch(published(f"{url}/toy.csv")) == CONTENT
    assert os.listdir(cache / "toy") == []
    assert "disk full" in caplog.text


@pytest.mark.parametrize("code", [FULL, BROKEN, READ_ONLY])
def test_whichever_write_into_the_cache_fails_the_data_is_good_and_nothing_is_half(
    url: str, cache: Path, code: int
) -> None:
    for number in range(1, 50):
        shutil.rmtree(cache, ignore_errors=True)
        with use(FailingDisk(cache, number, code)) as disk:
            assert fetch(published(f"{url}/toy.csv")) == CONTENT
        if not disk.failed:
            assert number > 3
            return
        kept = [path for path in cache.rglob("*") if path.is_file()]
        assert all(path.name == "toy.csv" and path.read_bytes() == CONTENT for path in kept)
    raise AssertionError("it was never kept")


def test_the_cache_is_where_the_user_keeps_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROCE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert cache_folder() == Path("/elsewhere/proce")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "proce"
