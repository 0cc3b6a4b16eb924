"""The service under load: latency, throughput, memory over many requests, and killed workers.

Run: ``python benchmarks/service.py [--requests 400] [--long 10000] [--only NAME ...]``.
``proce serve`` runs on the loan data with two explanation workers, on loopback, as a person would
start it; the clients of the load are tasks of this process, one connection each, on the same
machine. Every answer is compared with that of the library for the same row. Targets: a median of
less than 80 ms for one client and one row, less than 20 ms for a what-if, memory flat over 10,000
requests, no request lost or wrong, also while a worker is killed every few seconds.
"""

import argparse
import asyncio
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from portfolio import descendants, memory_of

import proce
from batch import PROCE
from proce.classifier import fit_network
from proce.schema import Codec

START_SECONDS = 120.0
ANSWER_SECONDS = 60.0
KILL_SECONDS = 3.0  # between two killed workers
TARGET = "approved"
N_TRAINING_ROWS, N_PEOPLE = 4_000, 100
EXPLAIN, WHAT_IF = "/explanations?wait=30&view=auditor", "/what-if"
BUSY = 503


class Client:
    """One connection to the service, which is kept open."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Return the status and the JSON of an answer."""
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.streams
        content = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
        )
        writer.write(head.encode() + content)
        async with asyncio.timeout(ANSWER_SECONDS):
            lines = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = re.search(r"content-length: (\d+)", lines)
            answer = await reader.readexactly(int(length[1]) if length else 0)
        return int(lines.split()[1]), json.loads(answer) if answer else None

    def close(self) -> None:
        """Close the connection."""
        if self.streams is not None:
            self.streams[1].close()


class Load:
    """What came of many requests: how long each took, how each ended, which were wrong."""

    def __init__(self) -> None:
        self.milliseconds: list[float] = []
        self.endings: Counter[str] = Counter()
        self.n_wrong = 0
        self.seconds = 0.0

    def line(self, name: str) -> str:
        """Return one line of a table."""
        cuts = statistics.quantiles(self.milliseconds, n=100, method="inclusive")
        rate = len(self.milliseconds) / self.seconds
        endings = ", ".join(f"{count:,} {ending}" for ending, count in self.endings.items())
        return (
            f"| {name} | {cuts[49]:.1f} | {cuts[98]:.1f} | {rate:.1f} | {endings} |"
            f" {self.n_wrong} |"
        )


def explain_request(row: int) -> dict[str, Any]:
    """Return the request for one person."""
    return {"row_ids": [row], "target": TARGET}


def counterfactuals(result: Any) -> Any:
    """Return what was found for the first row of a result, without what depends on the run."""
    return [way["values"] for way in result["explanations"][0]["counterfactuals"]]


async def load(port: int, n_clients: int, rows: list[int], truth: dict[int, Any]) -> Load:
    """Explain the rows by some clients at once; a client that is refused comes again."""
    found, waiting = Load(), list(reversed(rows))

    async def client() -> None:
        connection = Client(port)
        while waiting:
            row = waiting.pop()
            start = time.perf_counter()
            for _ in range(1_000):
                status, record = await connection.ask("POST", EXPLAIN, explain_request(row))
                if status != BUSY:
                    break
                found.endings["refused as busy, asked again"] += 1
                await asyncio.sleep(0.05)
            while status == 202 or (status == 200 and record["status"] in ("queued", "running")):
                _, record = await connection.ask(
                    "GET", f"/explanations/{record['id']}?view=auditor"
                )
                status = 200
                await asyncio.sleep(0.05)
            found.milliseconds.append(1_000 * (time.perf_counter() - start))
            ending = record["status"] if status == 200 else f"status {status}"
            found.endings[ending] += 1
            if ending == "done":
                found.n_wrong += counterfactuals(record["result"]) != truth[row]
            elif not record.get("error") and ending == "failed":
                found.n_wrong += 1  # a failure says why
        connection.close()

    start = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(n_clients):
            group.create_task(client())
    found.seconds = time.perf_counter() - start
    return found


async def what_if(port: int, n_requests: int) -> Load:
    """Ask one what-if after the other, as a person who types."""
    found, connection = Load(), Client(port)
    start = time.perf_counter()
    for number in range(n_requests):
        body = {"row_id": number % N_PEOPLE, "changes": {"savings": 1_000 + 100 * number}}
        began = time.perf_counter()
        status, _ = await connection.ask("POST", WHAT_IF, body)
        found.milliseconds.append(1_000 * (time.perf_counter() - began))
        found.endings["done" if status == 200 else f"status {status}"] += 1
    found.seconds = time.perf_counter() - start
    connection.close()
    return found


def in_library(explainer: proce.ProCE, people: Any) -> tuple[Load, dict[int, Any]]:
    """Explain each person by a call of the library: the truth, and the time to compare with."""
    found, truth = Load(), {}
    start = time.perf_counter()
    for row in range(len(people)):
        began = time.perf_counter()
        result = explainer.explain(people.iloc[[row]], target=TARGET)
        text = result.to_json(view="auditor")
        found.milliseconds.append(1_000 * (time.perf_counter() - began))
        found.endings["done"] += 1
        truth[row] = counterfactuals(json.loads(text))
    found.seconds = time.perf_counter() - start
    return found, truth


@contextmanager
def service(folder: Path) -> Iterator[tuple[int, int]]:
    """Start ``proce serve``; yield its process and its port once workers are ready."""
    words = ["serve", "loan", "--rows", "people.parquet", "--port", "0", "--workers", "2"]
    log = (folder / "log.txt").open("w+")
    process = subprocess.Popen([PROCE, *words], cwd=folder, stderr=log, start_new_session=True)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not (address := re.search(r"127\.0\.0\.1:(\d+)", (folder / "log.txt").read_text())):
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"the service did not start:\n{(folder / 'log.txt').read_text()}")
            time.sleep(0.1)
        yield process.pid, int(address[1])
    finally:
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(30)
        process.kill()
        log.close()


def prepare(folder: Path) -> tuple[proce.ProCE, Any]:
    """Train, fit and save an explainer of the loan data; return it and the rejected people."""
    data = proce.load_dataset("loan")
    decisions = data.label.map(dict(enumerate(data.class_names)))[:N_TRAINING_ROWS]
    train, others = data.frame[:N_TRAINING_ROWS], data.frame[N_TRAINING_ROWS:]
    codec = Codec.fit(data.recourse_schema, train)
    model = fit_network(codec, train, decisions)
    explainer = proce.ProCE(model, data.recourse_schema, data.graph, data.rules).fit(train)
    explainer.save(folder / "loan")
    predicted = model.predict_proba(codec.encode(others)).argmax(1).numpy()
    people = others[predicted != model.classes.index(TARGET)].head(N_PEOPLE)
    people.to_parquet(folder / "people.parquet", index=False)
    return explainer, people.reset_index(drop=True)


def latency(port: int, n_requests: int, library: Load, truth: dict[int, Any]) -> None:
    """Measure one row under 1, 8 and 64 clients, and a what-if."""
    print("\n| | p50, ms | p99, ms | a second | endings | wrong |\n|---|---|---|---|---|---|")
    print(library.line("library, one row after the other"))
    rows = [number % N_PEOPLE for number in range(n_requests)]
    asyncio.run(load(port, 2, rows[:20], truth))  # both workers are warm
    for n_clients in (1, 8, 64):
        found = asyncio.run(load(port, n_clients, rows, truth))
        name = f"{n_clients} client{'s' * (n_clients > 1)}"
        print(found.line(name), flush=True)
    print(asyncio.run(what_if(port, n_requests)).line("what-if, one client"))


def memory(pid: int, port: int, n_requests: int, truth: dict[int, Any]) -> None:
    """Measure the memory of all processes of the service over many requests."""
    print("\n| requests | memory, MB |\n|---|---|")
    n_steps = 10
    for step in range(n_steps + 1):
        total = sum(map(memory_of, [pid, *descendants(pid)])) >> 10
        print(f"| {step * n_requests // n_steps:,} | {total:,} |", flush=True)
        if step < n_steps:
            rows = [number % N_PEOPLE for number in range(n_requests // n_steps)]
            found = asyncio.run(load(port, 8, rows, truth))
            if found.n_wrong or set(found.endings) - {"done"}:
                print(f"  {dict(found.endings)}, {found.n_wrong} wrong")


def killed(pid: int, port: int, n_requests: int, truth: dict[int, Any]) -> None:
    """Explain while a worker is killed every few seconds."""
    choice, n_killed = random.Random(0), 0

    async def run() -> Load:
        async def kill() -> None:
            nonlocal n_killed
            while True:
                await asyncio.sleep(KILL_SECONDS)
                nurseries = [own for own in descendants(pid) if parent_of(own) == pid]
                workers = [own for own in descendants(pid) if parent_of(own) in nurseries]
                if workers:
                    with suppress(ProcessLookupError):
                        os.kill(choice.choice(workers), signal.SIGKILL)
                    n_killed += 1

        killer = asyncio.create_task(kill())
        rows = [number % N_PEOPLE for number in range(n_requests)]
        try:
            return await load(port, 8, rows, truth)
        finally:
            killer.cancel()

    found = asyncio.run(run())
    print("\n| | p50, ms | p99, ms | a second | endings | wrong |\n|---|---|---|---|---|---|")
    print(found.line(f"8 clients, {n_killed} workers killed"))


def parent_of(process: int) -> int:
    """Return the parent of a process; 0 where it is gone."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--long", type=int, default=10_000)
    parser.add_argument("--only", nargs="*", default=["latency", "memory", "killed"])
    wanted = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # the service ends with it
    with TemporaryDirectory() as name:
        folder = Path(name)
        explainer, people = prepare(folder)
        library, truth = in_library(explainer, people)
        with service(folder) as (pid, port):
            parts: dict[str, Callable[[], None]] = {
                "latency": lambda: latency(port, wanted.requests, library, truth),
                "killed": lambda: killed(pid, port, wanted.requests, truth),
                "memory": lambda: memory(pid, port, wanted.long, truth),
            }
            for part, measure in parts.items():
                if part in wanted.only:
                    measure()
    sys.stdout.flush()


if __name__ == "__main__":
    main()
