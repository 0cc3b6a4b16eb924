"""The command with worker processes: the same files, whatever becomes of the workers."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from proce.cli.main import main

PROCE = str(Path(sys.executable).with_name("proce"))


@pytest.fixture(scope="module")
def many(desk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of 800 people with an id, in pieces enough to be interrupted."""
    frame = pd.concat([pd.read_csv(desk / "people.csv").drop(columns="decision")] * 3)[:800]
    frame.insert(0, "customer", [f"{number:05}" for number in range(800)])
    path = tmp_path_factory.mktemp("many") / "many.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def undisturbed(desk: Path, many: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what one process writes."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(desk)
        assert main(words(many, folder)) == 0
    return folder


def words(rows: Path, folder: Path, *more: str) -> list[str]:
    out = ["--out", str(folder / "out.csv"), "--outcomes", str(folder / "outcomes.csv")]
    given = ["explain", "credit", str(rows), "--target", "yes", "-n", "2", "--id", "customer"]
    return [*given, *out, *more]


def assert_same(folder: Path, undisturbed: Path) -> None:
    """Every row is there once, with the values of a run that nobody disturbed."""
    for name in ("out.csv", "outcomes.csv"):
        result, expected = (
            pd.read_csv(each / name, dtype={"customer": str}) for each in (folder, undisturbed)
        )
        assert_frame_equal(result, expected, rtol=1e-12)
    assert {path.name for path in folder.iterdir()} == {"out.csv", "outcomes.csv"}


def processes_of(parent: int) -> list[int]:
    """Return the workers of a command: the children of its children."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if fields[0] != "Z":
            parents[int(status.parent.name)] = int(fields[1])
    servers = [process for process, own in parents.items() if own == parent]
    return [process for process, own in parents.items() if own in servers]


def each_part(folder: Path, process: "subprocess.Popen[str]") -> Iterator[int]:
    """Yield the number of finished parts whenever it changes, while the command runs."""
    n_before, end = 0, time.monotonic() + 300
    while process.poll() is None and time.monotonic() < end:
        n_parts = len(list((folder / "out.csv.parts").glob("*.outcomes.parquet")))
        if n_parts != n_before:
            n_before = n_parts
            yield n_parts
        time.sleep(0.01)


def start(desk: Path, *command: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [PROCE, *command], cwd=desk, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def killed_at_random(desk: Path, many: Path, folder: Path, seed: int) -> int:
    """Run the command with two workers, kill some at random; return how many were killed."""
    draw, n_killed = random.Random(seed), 0
    with start(desk, *words(many, folder, "--workers", "2")) as process:
        for _ in each_part(folder, process):
            living = processes_of(process.pid)
            if living and draw.random() < 0.7:
                os.kill(draw.choice(living), signal.SIGKILL)
                n_killed += 1
        _, told = process.communicate(timeout=300)
    assert process.returncode == 0, told
    return n_killed


def forkers() -> list[int]:
    """Return the processes that fork workers for this one."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            words = (status.parent / "cmdline").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if parent == os.getpid() and "proce.processes.fork_server" in words:
            found.append(int(status.parent.name))
    return found


def test_the_process_that_forks_workers_may_be_killed_at_any_time(
    at_desk: Path, many: Path, undisturbed: Path, tmp_path: Path
) -> None:
    """Once as it starts, and its successor when the first rows are kept."""
    others, killed, is_over = set(forkers()), list[int](), Event()

    def kill() -> None:
        while not is_over.wait(0.01) and len(killed) < 2:
            if not killed or list(tmp_path.glob("out.csv.parts/*.outcomes.parquet")):
                for process in {*forkers()} - {*others, *killed}:
                    os.kill(process, signal.SIGKILL)
                    killed.append(process)

    killer = Thread(target=kill)
    killer.start()
    try:
        assert main(words(many, tmp_path, "--workers", "2")) == 0
    finally:
        is_over.set()
        killer.join()
    assert len(killed) == 2
    assert_same(tmp_path, undisturbed)


def test_workers_write_what_one_process_writes(at_desk: Path, tmp_path: Path) -> None:
    rows = pd.read_csv("new.csv").head(12).assign(customer=[f"{row:05}" for row in range(12)])
    rows.to_csv(tmp_path / "rows.csv", index=False)
    alone, together = tmp_path / "alone", tmp_path / "together"
    for folder, more in ((alone, ()), (together, ("--workers", "2"))):
        folder.mkdir()
        assert main(words(tmp_path / "rows.csv", folder, *more)) == 0
    assert_same(together, alone)


@pytest.mark.slow
def test_killed_workers_cost_no_row_and_change_none(
    desk: Path, many: Path, undisturbed: Path, tmp_path: Path
) -> None:
    assert killed_at_random(desk, many, tmp_path, seed=0) > 1
    assert_same(tmp_path, undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_killed_workers_cost_no_row_and_change_none_ten_times(
    desk: Path, many: Path, undisturbed: Path, tmp_path: Path, seed: int
) -> None:
    assert killed_at_random(desk, many, tmp_path, seed) > 1
    assert_same(tmp_path, undisturbed)


@pytest.mark.slow
def test_ctrl_c_ends_the_workers_and_keeps_what_is_done(
    desk: Path, many: Path, undisturbed: Path, tmp_path: Path
) -> None:
    with start(desk, *words(many, tmp_path, "--workers", "2")) as process:
        next(each_part(tmp_path, process))
        workers = processes_of(process.pid)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "rows; they are kept in" in told
    assert "run the same command again to go on" in told
    assert workers
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    with start(desk, *words(many, tmp_path, "--workers", "1")) as process:
        _, told = process.communicate(timeout=300)
    assert "Going on after" in told
    assert process.returncode == 0
    assert_same(tmp_path, undisturbed)


@pytest.mark.slow
def test_a_pipe_gets_the_rows_in_order_and_receipts_are_written(
    at_desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["explain", "credit", "new.csv", "--target", "yes", "-n", "1"]
    assert main(given) == 0
    alone = capsys.readouterr()
    receipts = tmp_path / "receipts"
    assert main([*given, "--workers", "2", "--receipts", str(receipts)]) == 0
    assert capsys.readouterr() == alone
    assert len(list(receipts.iterdir())) == 40
    assert main(["verify", str(receipts), "--model", "credit"]) == 0
