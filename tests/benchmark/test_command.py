"""``proce benchmark`` as a person uses it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from proce.benchmark import Plan, RunFolder, Variant, run_plan
from proce.benchmark.presets import find_preset
from proce.cli.benchmark import _left_out_words
from proce.cli.main import main

PROCE = (sys.executable, "-c", "import sys; from proce.cli.main import main; sys.exit(main())")


@pytest.fixture
def recorded(small_run: RunFolder, tmp_path: Path) -> Path:
    """Return a copy of a finished run, of which one cell failed."""
    return Path(shutil.copytree(small_run.path, tmp_path / "copy"))


def proce(*words: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*PROCE, "benchmark", *map(str, words)], capture_output=True, text=True, timeout=900
    )


def descendants(process: int) -> list[int]:
    """Return the processes that a process has started, and those that they have."""
    own = [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/stat")
        if (text := read_or_nothing(path)) and int(text.rpartition(")")[2].split()[1]) == process
    ]
    return own + [inner for child in own for inner in descendants(child)]


def read_or_nothing(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def wait_for_end(process: int) -> bool:
    """Wait until a process is gone, or has ended and nobody has asked how; at most a minute."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        text = read_or_nothing(Path(f"/proc/{process}/stat"))
        if not text or text.rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.mark.slow
def test_the_smoke_preset_from_run_to_figures(tmp_path: Path) -> None:
    """Every method on two data sets; tables and figures are made of the folder alone."""
    pytest.importorskip("dice_ml")
    pytest.importorskip("pygad")
    folder = tmp_path / "smoke"
    done = proce("run", "--preset", "smoke", "--out", folder)
    assert done.returncode == 0, done.stderr
    assert "20 cells" in done.stderr
    assert done.stdout == ""
    records = RunFolder.open(folder).records()
    assert records["status"].tolist() == ["done"] * 20
    valid = RunFolder.open(folder).metrics().query("metric == 'target_class_validity'")
    shares = valid.groupby("variant")["value"].mean()
    assert len(shares) == len(find_preset("smoke").variants)
    assert shares.filter(like="ProCE").tolist() == [1.0] * 3
    tables = proce("tables", folder)
    assert tables.returncode == 0, tables.stderr
    assert (folder / "tables" / "table1.tex").exists()
    figures = proce("figures", folder)
    assert figures.returncode == 0, figures.stderr
    assert (folder / "figures" / "ranks.png").stat().st_size > 10_000


def test_a_run_that_is_finished_is_counted_and_what_failed_is_named(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = ["--plan", str(recorded / "plan.json")]
    assert main(["benchmark", "run", *plan, "--out", str(recorded), "--resume"]) == 1
    shown = capsys.readouterr()
    counted, failed = shown.err.splitlines()
    assert counted == f"4 cells in {recorded}, 1 failed."
    assert failed.startswith("broken (loan, first, 0): ")
    assert "nonsense" in failed
    assert shown.out == ""


def test_what_a_plan_cannot_measure_is_told_with_the_reason() -> None:
    words = _left_out_words(find_preset("standard"))
    (trees,) = (
        line for line in words if line.startswith("not measured on german_credit, trees: W")
    )
    assert "Wachter; DiCE gradient; Wachter, rules; " in trees
    assert "trees have none" in trees
    assert not any("adult" in line for line in words)
    assert (
        "not measured on loan, first: DiCE gradient; DiCE gradient, recourse (it takes more time"
        " there than the plan has)." in words
    )


def test_tables_and_figures_are_made_of_the_folder_and_named(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind, name in (("tables", "table1.tex"), ("figures", "ranks.png")):
        assert main(["benchmark", kind, str(recorded)]) == 0
        written = set(map(Path, capsys.readouterr().out.split()))
        assert written == set((recorded / kind).iterdir())
        assert recorded / kind / name in written


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("run", "--preset", "quik", "--out", "x"), "Did you mean 'quick'?"),
        (("run", "--plan", "missing.json", "--out", "x"), "is not there"),
        (("tables", "missing"), "holds no run"),
        (("figures", "missing"), "holds no run"),
    ],
)
def test_a_wrong_request_is_one_line_and_code_2(
    words: tuple[str, ...],
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["benchmark", *words]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert reason in told


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    words = [*PROCE, "benchmark", "run", "--preset", "smoke", "--out", str(folder), "--jobs", "1"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 300
    while time.monotonic() < until and not list(folder.glob("cells/[!.]*/cell.json")):
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "go on with --resume" in errors
    assert errors.count("\n") == 1
    assert list(folder.glob("cells/[!.]*/cell.json"))
    assert not list(folder.glob("cells/.*"))


@pytest.mark.slow
def test_a_killed_run_loses_the_cell_in_flight_at_most(tmp_path: Path, small_plan: Plan) -> None:
    plan, folder = tmp_path / "plan.json", tmp_path / "run"
    working = replace(small_plan, variants=small_plan.variants[1:])
    plan.write_text(working.to_json(), encoding="utf-8")
    words = [*PROCE, "benchmark", "run", "--plan", str(plan), "--out", str(folder), "--jobs", "1"]
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 300
    while time.monotonic() < until and not list(folder.glob("cells/[!.]*/cell.json")):
        time.sleep(0.05)
    workers = descendants(process.pid)
    assert len(workers) >= 2  # what makes workers, and a worker
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    done = {path.parent.name for path in folder.glob("cells/[!.]*/cell.json")}
    assert 1 <= len(done) <= 3
    for worker in workers:  # they end by themselves
        assert wait_for_end(worker), "a worker outlives the run"
    again = subprocess.run([*words, "--resume"], capture_output=True, text=True, timeout=600)
    assert again.returncode == 0, again.stderr
    assert RunFolder.open(folder).records()["status"].tolist() == ["done"] * 3


@pytest.mark.slow
def test_a_method_that_hangs_or_dies_costs_its_cell(tmp_path: Path, small_plan: Plan) -> None:
    """A search that would take days is ended from outside, and the next cell is run."""
    endless = {"population_size": 1000, "n_generations": 10**6, "stop_improvement": None}
    variants = (
        Variant(name="endless", method="ProCE", settings=endless, max_evaluations=10**9),
        small_plan.variants[2],
    )
    plan = replace(small_plan, variants=variants, row_seconds=1e6, cell_seconds=60.0)
    records = run_plan(plan, tmp_path / "run", jobs=1).records().set_index("variant")
    assert records.loc["endless", "status"] == "failed"
    assert "past the limit of 60 seconds" in records.loc["endless", "error"]
    assert records.loc["Nearest", "status"] == "done"
    assert set(RunFolder.open(tmp_path / "run").metrics()["variant"]) == {"Nearest"}
