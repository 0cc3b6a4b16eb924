"""The command: exit codes, one line per error, quick help."""

import os
import subprocess
import sys

import pytest

import proce
from proce.cli import main as cli
from proce.errors import SchemaError

HEAVY = {"torch", "pandas", "numpy", "sklearn", "numba", "networkx", "matplotlib", "scipy"}


@pytest.fixture
def fail_with(monkeypatch: pytest.MonkeyPatch) -> list[BaseException]:
    """Add a command ``fail`` that raises what the test puts into the list."""
    errors: list[BaseException] = []

    def fail() -> None:
        raise errors[0]

    monkeypatch.setattr(cli.app, "registered_commands", [*cli.app.registered_commands])
    monkeypatch.delenv("PROCE_DEBUG", raising=False)
    cli.app.command()(fail)
    return errors


def test_version_and_help_are_answered_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"proce {proce.__version__}\n"

    assert cli.main(["--help"]) == 0
    assert "demo" in capsys.readouterr().out


def test_python_runs_the_package_as_the_command() -> None:
    for words, code, told in ((["--version"], 0, f"proce {proce.__version__}"), (["dmeo"], 2, "")):
        command = [sys.executable, "-m", "proce", *words]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (run.returncode, run.stdout.strip()) == (code, told), run.stderr


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    assert "Usage: proce" in capsys.readouterr().out


def test_help_imports_nothing_heavy() -> None:
    words = [["--help"], ["--version"], ["demo", "--help"]]
    code = f"""
import sys
from proce.cli.main import main
for words in {words}:
    main(words)
print(*sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert HEAVY & {*run.stdout.splitlines()[-1].split()} == set()


@pytest.mark.parametrize("words", [["dmeo"], ["--colour"], ["demo", "--out"], ["demo", "extra"]])
def test_a_wrong_request_is_one_line_and_exit_code_2(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("proce: ")
    assert shown.err.endswith("--help'.\n")
    assert shown.err.count("\n") == 1


def test_our_own_error_is_one_line_and_exit_code_2(
    fail_with: list[BaseException], capsys: pytest.CaptureFixture[str]
) -> None:
    fail_with.append(SchemaError("feature 'age': unknown level.\n  Add it."))
    assert cli.main(["fail"]) == 2
    assert capsys.readouterr().err == "proce: feature 'age': unknown level. Add it.\n"


def test_any_other_error_is_one_line_and_exit_code_3(
    fail_with: list[BaseException], capsys: pytest.CaptureFixture[str]
) -> None:
    fail_with.append(ZeroDivisionError("oh"))
    assert cli.main(["fail"]) == 3
    shown = capsys.readouterr().err
    assert shown.startswith("proce: unexpected ZeroDivisionError: oh. Run 'proce --debug")
    assert shown.count("\n") == 1


@pytest.mark.parametrize("error", [ZeroDivisionError("oh"), SchemaError("oh")])
def test_debug_shows_the_traceback_first(
    error: Exception,
    fail_with: list[BaseException],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fail_with.append(error)
    cli.main(["--debug", "fail"])
    assert capsys.readouterr().err.startswith("Traceback")

    monkeypatch.setenv("PROCE_DEBUG", "1")
    cli.main(["fail"])
    assert capsys.readouterr().err.startswith("Traceback")


def test_an_interrupt_is_exit_code_130(
    fail_with: list[BaseException], capsys: pytest.CaptureFixture[str]
) -> None:
    fail_with.append(KeyboardInterrupt())
    assert cli.main(["fail"]) == 130
    assert capsys.readouterr().err == "proce: interrupted\n"


def test_a_broken_pipe_elsewhere_is_not_taken_for_a_reader_that_left(
    fail_with: list[BaseException], capsys: pytest.CaptureFixture[str]
) -> None:
    fail_with.append(BrokenPipeError("a worker died"))
    assert cli.main(["fail"]) == 3
    assert "a worker died" in capsys.readouterr().err


def test_a_reader_that_leaves_is_no_error() -> None:
    """As in ``proce --help | head -0``."""
    reader, writer = os.pipe()
    os.close(reader)
    code = "import sys; from proce.cli.main import main; sys.exit(main(['--help']))"
    run = subprocess.run(
        [sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE, timeout=60
    )
    os.close(writer)
    assert run.returncode == 141
    assert run.stderr == b""
