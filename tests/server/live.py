"""A real ``proce serve`` in a process of its own, for tests that speak HTTP with it."""

import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import httpx
from fastapi import FastAPI

from proce.server.app import make_app
from proce.server.routes.service import Service, Settings

START_SECONDS = 300.0
END_SECONDS = 20.0
ANSWER_SECONDS = 60.0
PROCE = [sys.executable, "-P", "-c", "from proce.cli.main import main; raise SystemExit(main())"]
_ADDRESS = re.compile(r"http://[^/\s]+")


class LiveServer:
    """A service on a free port of loopback; a context that ends it.

    Parameters
    ----------
    words
        The words after ``proce serve``, without the port.
    port
        The port; 0 takes any that is free.
    """

    def __init__(self, *words: object, port: int = 0) -> None:
        self.words = [*map(str, words), "--port", str(port)]
        self.lines: list[str] = []  # what it said on stderr
        self._said: queue.Queue[str | None] = queue.Queue()

    def __enter__(self) -> "LiveServer":
        self.process = subprocess.Popen(
            [*PROCE, "serve", *self.words],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        self._reader = threading.Thread(target=self._listen)
        self._reader.start()
        self.address = self._wait_for_address()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            code = self.process.wait(END_SECONDS)
        finally:
            self.process.kill()
            self._reader.join(END_SECONDS)
        return code

    def client(self, token: str | None = None) -> httpx.Client:
        """Return a client of the service."""
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.address, headers=headers, timeout=ANSWER_SECONDS)

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.address.rpartition(":")[2])

    def _listen(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as stream:
            for line in stream:
                self.lines.append(line)
                self._said.put(line)
        self._said.put(None)

    def _wait_for_address(self) -> str:
        try:
            while (line := self._said.get(timeout=START_SECONDS)) is not None:
                if found := _ADDRESS.search(line):
                    return found[0]
        except queue.Empty:
            pass
        self.end(signal.SIGKILL)
        raise AssertionError(f"the service did not start: {''.join(self.lines)}")


def bare_app() -> FastAPI:
    """Return the application with its routes, and nothing behind them."""
    nothing = cast(Any, None)
    return make_app(Service(nothing, nothing, nothing, nothing, Settings(), nothing))


def token_file(folder: Path, applicant: str, auditor: str) -> Path:
    """Write a token of each role into a file of a folder."""
    path = folder / "tokens"
    path.touch(0o600)
    path.write_text(f"applicant {applicant}\nauditor {auditor}\n", "utf-8")
    return path


def body_of(answer: httpx.Response, status: int = 200) -> Any:
    """Return the JSON of an answer, which must have a status."""
    assert answer.status_code == status, (answer.status_code, answer.text[:2000])
    return answer.json()


def explained(client: httpx.Client, request: dict[str, Any], view: str = "applicant") -> Any:
    """Ask for an explanation, wait for its end and return its record."""
    answer = client.post("/explanations", json=request, params={"wait": 30, "view": view})
    record = body_of(answer)
    assert record["status"] == "done", record["error"]
    return record


def run_serve(*words: object, timeout: float = START_SECONDS) -> "subprocess.CompletedProcess[str]":
    """Run ``proce serve`` to its end, which is near because the words are wrong."""
    command: Sequence[str] = [*PROCE, "serve", *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, check=False, cwd=Path.cwd()
    )
