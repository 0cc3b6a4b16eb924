"""A service that ends, gently or not: what is finished stays, what was not is marked."""

import signal
from pathlib import Path

import httpx
import pytest

from ..live import LiveServer, body_of, explained

LONG = {"row_ids": list(range(60)), "pick": "typical", "n": 8}


def events(client: httpx.Client, record_id: str) -> str:
    return client.get(f"/explanations/{record_id}/events").text


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_a_restart_keeps_what_is_finished_and_marks_what_was_not(
    loan_folder: Path, loan_rows: Path, tmp_path: Path, number: signal.Signals
) -> None:
    words = [loan_folder, "--rows", loan_rows, "--workers", 1, "--target", "approved"]
    words += ["--database", tmp_path / "log.sqlite"]
    with LiveServer(*words) as server, server.client() as client:
        done = explained(client, {"row_ids": [0], "n": 1})
        assert done["request"]["target"] == "approved"  # which the operator has set
        first = body_of(client.post("/explanations", json=LONG), 202)["id"]
        second = body_of(client.post("/explanations", json=LONG), 202)["id"]
        with client.stream("GET", f"/explanations/{first}/events") as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: progress"
            code = server.end(number)
            rest = "" if number == signal.SIGKILL else "\n".join(lines)
        if number == signal.SIGTERM:
            assert code == 0
            assert '"status": "interrupted"' in rest
            assert "Traceback" not in "".join(server.lines)
    with LiveServer(*words) as server, server.client() as client:
        assert body_of(client.get(f"/explanations/{done['id']}")) == done
        for unfinished in (first, second):
            record = body_of(client.get(f"/explanations/{unfinished}"))
            assert (record["status"], record["result"]) == ("interrupted", None)
            assert "interrupted" in events(client, unfinished)
        again = explained(client, {"row_ids": [0], "n": 1})
        assert {**again["result"], "provenance": None} == {**done["result"], "provenance": None}
