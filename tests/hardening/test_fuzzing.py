"""The fuzzing notices what it is there for, and a short run of each target finds nothing."""

import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "hardening"))
    from fuzzing import engine

    monkeypatch.setattr(engine, "MAX_SECONDS", 0.05)
    return engine


def findings(engine: ModuleType, tmp_path: Path, check: object) -> list[str]:
    """Return what is found of three inputs."""
    target = engine.Target("odd", check, [b"a", b"bb", b"ccc"])
    record = engine.Record("odd", tmp_path)
    engine.run_plain(target, engine.Executor(target, record, 3), 3, 0, tmp_path / "corpus")
    assert record.n_executions == 3
    return list(record.findings)


def test_an_error_that_is_not_ours_is_found_and_its_shortest_input_kept(
    engine: ModuleType, tmp_path: Path
) -> None:
    def check(content: bytes) -> None:
        raise KeyError(content)

    (place,) = findings(engine, tmp_path, check)
    assert place.startswith("KeyError")
    (kept,) = tmp_path.glob("odd-*")
    assert kept.read_bytes() == b"a"


def test_an_error_of_ours_refuses_an_input(engine: ModuleType, tmp_path: Path) -> None:
    from proce.errors import GraphError

    def check(content: bytes) -> None:
        raise GraphError("no")

    assert findings(engine, tmp_path, check) == []


def test_an_input_that_never_ends_is_found(engine: ModuleType, tmp_path: Path) -> None:
    def check(content: bytes) -> None:
        while True:
            pass

    assert any(place.startswith("hang") for place in findings(engine, tmp_path, check))


def test_changes_are_the_same_for_the_same_seed(
    engine: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = engine.Target("odd", print, [b'{"a": [1, "b"]}', b"[2]"], (b"null",), is_json=True)
    drawn = [
        [target.changed(target.seeds[0], draw) for _ in range(200)]
        for draw in (random.Random(7), random.Random(7))
    ]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) > 100


@pytest.mark.slow
def test_a_short_run_of_every_target_finds_nothing(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "hardening" / "fuzz.py"), "all", "--runs", "2000"]
    folders = ["--corpus", str(tmp_path / "corpus"), "--findings", str(tmp_path / "found")]
    done = subprocess.run([*command, "--guided", "0", *folders], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
