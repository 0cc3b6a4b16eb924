"""The whole service with its log on a PostgreSQL server."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from ..live import LiveServer, body_of, explained, token_file
from .postgres import PASSWORD, empty_database

APPLICANT, AUDITOR = "a-token-for-applicants", "another-one-for-auditors"


@pytest.mark.slow
def test_a_service_that_is_killed_finds_its_log_again(
    postgres_server: str, loan_folder: Path, loan_rows: Path, rejected: int, tmp_path: Path
) -> None:
    tokens = token_file(tmp_path, APPLICANT, AUDITOR)
    words: list[Any] = [loan_folder, "--rows", loan_rows, "--workers", "1"]
    words += ["--token-file", tokens, "--database", empty_database(postgres_server)]

    with LiveServer(*words) as first:
        with first.client(APPLICANT) as client:
            done = explained(client, {"row_ids": [rejected], "n": 1})
            for _ in range(3):  # the last one cannot have ended when the service is killed
                many = client.post("/explanations", json={"row_ids": [*range(60)]})
            waiting = body_of(many, 202)
        first.end(signal.SIGKILL)

    with LiveServer(*words) as second, second.client(AUDITOR) as client:
        log = body_of(client.get("/explanations"))
        statuses = {record["id"]: record["status"] for record in log["records"]}
        assert (log["total"], {*statuses.values()}) == (4, {"done", "interrupted"})
        assert (statuses[done["id"]], statuses[waiting["id"]]) == ("done", "interrupted")
        again = body_of(client.get(f"/explanations/{done['id']}"))
        assert again["result"] == done["result"]
        lines = client.get("/explanations/export").text.splitlines()
        assert [json.loads(line)["id"] for line in lines] == [*reversed(statuses)]
        assert 'method="GET",route="/explanations",status="200"' in client.get("/metrics").text
    told = "".join(first.lines + second.lines)
    assert not any(secret in told for secret in (PASSWORD, APPLICANT, AUDITOR))
