"""``proce explain --engine dask``, from a folder of Parquet files into another."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fsspec
import pandas as pd
import psutil
import pytest
from distributed import Client, LocalCluster

from proce.cli.main import main

Run = Callable[..., "subprocess.CompletedProcess[str]"]
PROCE = str(Path(sys.executable).with_name("proce"))
WORDS = ["--target", "yes", "-n", "1", "--engine", "dask"]


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Let the command use a cluster of this process; return what it would have connected to."""
    asked: list[tuple[Any, ...]] = []

    @contextmanager
    def connect(*arguments: Any) -> Iterator[Client]:
        asked.append(arguments)
        quiet = {"dashboard_address": "127.0.0.1:0"}
        with (
            LocalCluster(
                n_workers=1, processes=False, dashboard_address=None, scheduler_kwargs=quiet
            ) as cluster,
            Client(cluster, set_as_default=False) as client,
        ):
            yield client

    monkeypatch.setattr("proce.batch.cluster.connection.connect", connect)
    return asked


def rows(desk: Path, folder: Path, n_files: int = 2, n_rows: int = 4) -> Path:
    """Write some new people into the files of a folder."""
    folder.mkdir()
    people = pd.read_parquet(desk / "new.parquet").drop(columns="decision")
    for at in range(n_files):
        part = people[at * n_rows : (at + 1) * n_rows]
        part.assign(customer=part.index).to_parquet(folder / f"{at}.parquet", index=False)
    return folder


def test_a_folder_becomes_folders_and_a_bad_file_is_named(
    at_desk: Path,
    tmp_path: Path,
    in_this_process: list[tuple[Any, ...]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = rows(at_desk, tmp_path / "rows", n_files=3, n_rows=2)
    good = (source / "1.parquet").read_bytes()
    (source / "1.parquet").write_bytes(good[:-50])
    folders = ["--out", str(tmp_path / "out"), "--outcomes", str(tmp_path / "all")]
    words = ["explain", "credit", str(source), *WORDS, "--id", "customer", *folders]
    assert main([*words, "--workers", "3"]) == 3
    told = capsys.readouterr()
    assert told.out == ""
    assert "1.parquet: it cannot be read as Parquet" in told.err
    assert f"Written to {tmp_path / 'out'} and {tmp_path / 'all'}." in told.err
    assert "1 file could not be done whole" in told.err
    assert in_this_process == [(None, 3)]
    assert set(pd.read_parquet(tmp_path / "all")["customer"]) == {0, 1, 4, 5}
    (source / "1.parquet").write_bytes(good)
    assert main(words) in (0, 1)
    told = capsys.readouterr()
    assert "4 rows had been done before." in told.err
    assert "6 rows: " in told.err
    assert pd.read_parquet(tmp_path / "all")["customer"].tolist() == list(range(6))
    one = tmp_path / "one.parquet"
    assert main([*words[:7], "--id", "customer", "--out", str(one)]) in (0, 1)
    found, expected = pd.read_parquet(tmp_path / "out"), pd.read_parquet(one)
    same = [name for name in expected.columns if name != "row"]
    pd.testing.assert_frame_equal(found[same], expected[same], check_dtype=False)


def test_the_url_of_a_store_is_told_as_it_was_given(
    at_desk: Path,
    tmp_path: Path,
    in_this_process: list[tuple[Any, ...]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    source, store = rows(at_desk, tmp_path / "rows", n_files=1), fsspec.filesystem("memory")
    words = ["explain", "credit", str(source), *WORDS, "--out", "memory://desk/result"]
    try:
        assert main(words) in (0, 1)
    finally:
        store.rm("/desk", recursive=True)
    assert capsys.readouterr().err.endswith(" Written to memory://desk/result.\n")


@pytest.mark.slow
def test_processes_of_this_machine_explain_and_none_is_left(
    desk: Path, run: Run, tmp_path: Path
) -> None:
    source = rows(desk, tmp_path / "rows")
    others = set(psutil.Process().children(recursive=True))  # servers of other tests
    done = run("explain", "credit", source, *WORDS, "--workers", 2, "--out", tmp_path / "out")
    assert done.returncode in (0, 1), done.stderr
    assert done.stderr.startswith("8 rows: ")
    assert done.stderr.count("\n") == 1
    assert not set(psutil.Process().children(recursive=True)) - others


@pytest.mark.slow
def test_ctrl_c_ends_the_workers_and_keeps_the_parts(desk: Path, tmp_path: Path) -> None:
    source = rows(desk, tmp_path / "rows", n_files=40, n_rows=1)
    out = tmp_path / "out"
    words = [PROCE, "explain", "credit", str(source), *WORDS, "--workers", "2", "--out", str(out)]
    process = subprocess.Popen(
        words, cwd=desk, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while not list(out.glob("part-*")) and time.monotonic() < deadline:
        time.sleep(0.1)
    workers = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to all of them
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert errors.startswith("proce: interrupted; finished parts are kept in")
    assert errors.count("\n") == 1
    assert workers
    assert not psutil.wait_procs(workers, timeout=20)[1]
    kept = len(list(out.glob("part-*.parquet")))
    assert 0 < kept < 40
    again = subprocess.run(words, cwd=desk, stderr=subprocess.PIPE, text=True, timeout=300)
    assert again.returncode in (0, 1), again.stderr
    assert len(list(out.glob("part-*.parquet"))) == 40
