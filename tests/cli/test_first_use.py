"""What is compiled beside a first command is what that command needs, and it is done once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from proce.cli import first_use

ROOMS = (
    *("survival.", "genome.", "convergence.", "choosing."),
    *("program.", "limits.", "genes.", "terms."),
)


@pytest.mark.slow
def test_a_first_demo_compiles_little(tmp_path: Path) -> None:
    def run(*words: str) -> set[str]:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
        command = list(words)
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        kept = {path.name for path in tmp_path.rglob("*.nbc")}
        return {name for name in kept if name.startswith(ROOMS)}

    before = run(sys.executable, "-m", "proce.methods.ahead")
    assert len(before) > 30
    assert run(str(Path(sys.executable).with_name("proce")), "demo") == before


@pytest.mark.parametrize(
    ("is_kept", "n_cores", "starts"),
    [(False, 2, True), (False, 1, False), (True, 8, False), (None, 8, False)],
)
def test_when_a_second_process_is_started(
    is_kept: bool | None, n_cores: int, starts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where something is to be kept that is not kept yet, and a core is idle."""
    commands: list[list[str]] = []
    monkeypatch.setattr("proce.compiled.kernel.is_kept", lambda _: is_kept)
    monkeypatch.setattr(first_use, "n_usable", lambda: n_cores)
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: commands.append(command))
    monkeypatch.setattr("atexit.register", lambda *_: None)
    first_use.compile_beside()
    assert (len(commands) == 1) == starts


def test_the_second_process_runs_nothing_of_the_folder_it_is_started_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Modules named like those of others may lie where somebody keeps data."""
    commands: list[list[str]] = []
    with monkeypatch.context() as patched:
        patched.setattr("proce.compiled.kernel.is_kept", lambda _: False)
        patched.setattr(first_use, "n_usable", lambda: 2)
        patched.setattr(subprocess, "Popen", lambda command, **_: commands.append(command))
        patched.setattr("atexit.register", lambda *_: None)
        first_use.compile_beside()
    (tmp_path / "platform.py").write_text("open('was_run', 'w')")
    interpreter = commands[0][: commands[0].index("-m")]
    subprocess.run([*interpreter, "-m", "platform"], cwd=tmp_path, check=True, capture_output=True)
    assert not (tmp_path / "was_run").exists()
