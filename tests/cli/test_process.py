"""The installed command as a person uses it: at a terminal, piped, interrupted, on a full disk."""

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from resource import RLIMIT_FSIZE, setrlimit

import pandas as pd
import pyarrow.parquet as pq
import pytest

from proce.cli.main import main

Run = Callable[..., "subprocess.CompletedProcess[str]"]
PROCE = str(Path(sys.executable).with_name("proce"))
NAMES = ["r.csv", pytest.param("r.json", marks=pytest.mark.slow)]
EXPLAIN = ["explain", "credit", "new.csv", "--target", "yes", "-n", "1"]


def test_every_command_from_data_to_report(
    run: Run, at_desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One person's afternoon: look, discover, fit, explain, report, verify."""

    def done(*words: object) -> str:
        """Run a command that succeeds; return what it shows."""
        code = main([*map(str, words)])
        shown = capsys.readouterr()
        assert code in ((0, 1) if words[0] == "explain" else (0,)), shown.err
        return shown.out

    assert run("--version").stdout.startswith("proce ")
    assert "savings" in done("schema", "people.csv", "--label", "decision")
    graph, folder = tmp_path / "graph.json", tmp_path / "credit"
    done("discover", "people.csv", "--label", "decision", "--out", graph)
    words = ["--label", "decision", "--model", "train:boosting", "--graph", graph]
    fit = ["fit", "people.csv", *words, "--population", 20, "--generations", 5, "--out", folder]
    assert done(*fit) == ""
    out = ["--out", tmp_path / "r.json", "--receipts", tmp_path / "receipts"]
    done("explain", folder, "new.csv", "--target", "yes", *out)
    page = tmp_path / "report.html"
    done("report", tmp_path / "r.json", "--out", page)
    assert "<html" in page.read_text("utf-8")
    done("verify", tmp_path / "receipts" / "row-0.json", "--model", folder)


@pytest.mark.slow
def test_the_demo_explains_an_applicant_and_writes_a_page(run: Run, tmp_path: Path) -> None:
    done = run("demo", "--out", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    assert "What would have to change" in done.stdout
    names = {path.name for path in (tmp_path / "demo").iterdir()}
    assert names == {"explanation.json", "counterfactuals.csv", "report.html"}


def test_a_terminal_gets_bars_with_the_time_left_and_a_table_that_fits(desk: Path) -> None:
    shown = at_terminal(desk, [*EXPLAIN, "--vary", "savings,school"], columns=72)
    assert "search" in shown
    assert "━" in shown
    assert "0:00:0" in shown  # the time that is left
    table = shown[shown.rindex("what to do") :]
    assert "Raise savings from" in table
    assert "And 20 rows more" in table
    lines = table.splitlines()[1:]
    assert max(len(line) for line in lines) <= 72


def at_terminal(desk: Path, words: list[str], columns: int) -> str:
    """Run a command in a pseudo-terminal and return what was drawn, without colours."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", "NO_COLOR": "1"}
    process = subprocess.Popen(
        [PROCE, *words], cwd=desk, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    drawn = b""
    try:
        while piece := os.read(ours, 65_536):
            drawn += piece
    except OSError:  # the terminal was closed from the other side
        pass
    os.close(ours)
    assert process.wait(timeout=60) == 0, drawn
    return drawn.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("name", NAMES)
def test_ctrl_c_leaves_nothing_half_written(desk: Path, tmp_path: Path, name: str) -> None:
    header, *lines = (desk / "new.csv").read_text().splitlines()
    many = tmp_path / "many.csv"
    many.write_text("\n".join([header, *lines * 400]))  # 16,000 rows: it would take minutes
    words = ["explain", "credit", many, "--target", "yes", "--out", tmp_path / name]
    process = subprocess.Popen([PROCE, *words], cwd=desk, stderr=subprocess.PIPE, text=True)
    time.sleep(0.2)
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.5)
        if (tmp_path / f"{name}.parts").exists() or (name == "r.json" and started(process.pid)):
            break
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert errors.startswith("proce: interrupted")
    assert errors.count("\n") == 1
    assert not (tmp_path / name).exists()
    assert {path.name for path in tmp_path.iterdir()} - {f"{name}.parts"} == {"many.csv"}


@pytest.mark.slow
def test_a_run_that_is_killed_after_each_part_ends_as_if_nothing_had_been(
    run: Run, desk: Path, tmp_path: Path
) -> None:
    rows = pd.concat([pd.read_csv(desk / "new.csv")] * 320, ignore_index=True)  # three parts or so
    rows.to_parquet(tmp_path / "many.parquet")
    words = ["explain", "credit", tmp_path / "many.parquet", "--target", "yes", "-n", "1"]
    outs = ["--out", tmp_path / "r.parquet", "--outcomes", tmp_path / "o.parquet"]
    for n_parts in (1, 2):
        process = subprocess.Popen([PROCE, *words, *outs], cwd=desk, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 200
        while finished_parts(tmp_path) < n_parts and time.monotonic() < deadline:
            time.sleep(0.05)
        process.kill()
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
        assert finished_parts(tmp_path) >= n_parts
    done = run(*words, *outs)
    assert done.returncode == 0, done.stderr
    assert "Going on after 8,192 of 12,800 rows" in done.stderr
    again = ["--out", tmp_path / "again.parquet", "--outcomes", tmp_path / "all.parquet"]
    assert run(*words, *again).returncode == 0
    for name, other in (("r", "again"), ("o", "all")):
        written = pq.read_table(tmp_path / f"{name}.parquet")
        assert written.equals(pq.read_table(tmp_path / f"{other}.parquet"))
    names = {path.stem for path in tmp_path.iterdir()}
    assert names == {"many", "r", "o", "again", "all"}


def finished_parts(folder: Path) -> int:
    return len(list(folder.glob("r.parquet.parts/*.outcomes.parquet")))


def started(pid: int) -> bool:
    """Whether a process has worked for some seconds, and so is past its imports."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK") > 6


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Mount a disk of 64 kB, where that is allowed."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("this machine lets nobody mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_is_one_line_and_keeps_the_old_file(
    at_desk: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with small_disk(tmp_path / "disk") as disk:
        (disk / name).write_text("old")
        (disk / "rest").write_bytes(b"\0" * (52 << 10))
        assert main([*EXPLAIN, "--out", str(disk / name)]) == 3
        told = capsys.readouterr().err
        assert told.count("\n") == 1
        assert "No space left on device" in told
        assert (disk / name).read_text() == "old"
        left = {path.name for path in disk.iterdir()} - {name, "rest"}
        assert left <= {"r.csv.parts"}
        assert ("are kept in" in told) == bool(left)


@pytest.mark.slow
def test_a_file_that_may_not_grow_is_one_line_and_leaves_nothing(run: Run, tmp_path: Path) -> None:
    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        setrlimit(RLIMIT_FSIZE, (1_024, 1_024))

    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "numba")}
    out = tmp_path / "r.json"
    done = run(*EXPLAIN, "--out", out, preexec_fn=limited, env=environment)
    assert done.returncode == 3, done.stderr
    assert "cannot be written: File too large." in done.stderr.splitlines()[-1]
    assert not out.exists()


def test_a_full_stdout_is_one_line(run: Run) -> None:
    with open("/dev/full", "w") as full:
        done = run("schema", "people.csv", stdout=full)
    assert done.returncode == 3
    assert done.stderr == "proce: No space left on device.\n"


def test_the_shell_can_complete_commands_and_options(run: Run) -> None:
    for line, expected in (("proce ex", "explain"), ("proce explain --max", "--max-changes")):
        words = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        environment = {**os.environ, "_PROCE_COMPLETE": "complete_bash", **words}
        assert run(env=environment).stdout.split() == [expected]
