"""The requests of docs/howto/service.md are answered by a running service."""

import json
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest

from proce.server.guard import Tokens

from ..server.live import LiveServer
from .blocks import ROOT, blocks_of

PAGE = ROOT / "docs/howto/service.md"
REQUESTS = [
    command for block in blocks_of(PAGE) for command in block.commands if command.startswith("curl")
]
TOO_LATE = 409  # to cancel what has ended


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        with LiveServer("--demo") as server:
            yield server


def test_the_file_of_tokens_on_the_page_is_read(tmp_path: Path) -> None:
    (text,) = (block.text for block in blocks_of(PAGE) if block.language == "text")
    path = tmp_path / "tokens.txt"
    path.write_text(text, "utf-8")
    path.chmod(0o600)
    holders = [Tokens(path).holder_of(word.encode()) for word in text.split()]
    assert {holder.role for holder in holders if holder} == {"applicant", "auditor"}


@pytest.mark.slow
def test_every_request_of_the_page_is_answered(service: LiveServer, tmp_path: Path) -> None:
    if which("curl") is None:
        pytest.skip("no curl on this machine")
    record = "ID"
    for request in REQUESTS:
        line = request.replace("localhost:8000", service.address.removeprefix("http://"))
        words = shlex.split(line.replace("/ID", f"/{record}"), comments=True)
        run = subprocess.run(
            [*words, "-w", "\n%{http_code}"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
        body, _, status = run.stdout.rpartition("\n")
        assert run.returncode == 0, request
        assert int(status) < 300 or ("DELETE" in words and int(status) == TOO_LATE), (
            f"{request}{body}"
        )
        if "wait=30" in request:
            record = json.loads(body)["id"]
    assert record != "ID"
