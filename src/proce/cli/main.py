"""The ``proce`` command: its options, and what its exit codes mean."""

# 0 done; 1 done, but some rows have no counterfactual; 2 the request is wrong; 3 something else
# failed. 130 and 141 are the usual codes for Ctrl-C and for a pipe that was closed. Modules that
# are slow to import are imported inside the commands.

import atexit
import gc
import os
import select
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from proce import __version__
from proce.cli.benchmark import benchmark
from proce.cli.demo import demo
from proce.cli.discover import discover
from proce.cli.explaining.explain import explain
from proce.cli.fit import fit
from proce.cli.report import report
from proce.cli.schema import schema
from proce.cli.serve import serve
from proce.cli.verify import verify
from proce.errors import ProceError
from proce.paths import is_fault, path_error, refuse_odd_characters

_EXIT_WRONG_REQUEST = 2
_EXIT_FAILED = 3
_EXIT_INTERRUPTED = 130
_EXIT_PIPE_CLOSED = 141

_COMPLETION_VARIABLE = "_PROCE_COMPLETE"  # a shell sets it to ask what may complete a line

atexit.register(gc.freeze)  # else Python looks through a million objects at the end, for a second

app = typer.Typer(rich_markup_mode=None)
for command in (demo, schema, discover, fit, explain, report, verify, serve):
    app.command()(command)
app.add_typer(benchmark, name="benchmark")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"proce {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def proce(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and stop."
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show the traceback of an error (or set PROCE_DEBUG=1)."),
    ] = False,
) -> None:
    """Explain decisions of a classifier: what would have had to be different.

    Begin with 'proce demo'. For your own data: 'proce fit', then 'proce explain'.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if _COMPLETION_VARIABLE in os.environ:
        typer.main.get_command(app).main(prog_name="proce")
    debug = "--debug" in words or os.environ.get("PROCE_DEBUG", "0") not in {"", "0"}
    words = [word for word in words if word != "--debug"]  # typer takes it before the command only
    try:
        refuse_odd_characters(words)
        exit_code = _run(words)
        sys.stdout.flush()
        return exit_code
    except (KeyboardInterrupt, typer.Abort) as stop:
        return _report_error(str(stop) or "interrupted", _EXIT_INTERRUPTED)
    except Exception as error:
        _give_up_full_stdout()
        if isinstance(error, BrokenPipeError) and _stdout_closed():
            return _EXIT_PIPE_CLOSED
        if debug:
            traceback.print_exc()
        if isinstance(error, ProceError | typer.TyperException):
            exit_code = _EXIT_FAILED if is_fault(error) else _EXIT_WRONG_REQUEST
            return _report_error(_request_message(error), exit_code)
        if isinstance(error, OSError) and error.errno is not None and not is_fault(error):
            return _report_error(str(path_error(error)), _EXIT_WRONG_REQUEST)
        if isinstance(error, OSError | MemoryError):
            return _report_error(_system_message(error), _EXIT_FAILED)
        message = f"unexpected {type(error).__name__}: {error}"
        advice = "" if debug else ". Run 'proce --debug ...' to see where it happened."
        return _report_error(message + advice, _EXIT_FAILED)


def _run(words: list[str]) -> int:
    command = typer.main.get_command(app)
    try:
        # command.main() would turn Ctrl-C and a closed pipe into exit codes of its own.
        with command.make_context("proce", words) as context:
            command.invoke(context)
    except typer.Exit as stop:
        return stop.exit_code
    return 0


def _report_error(message: str, exit_code: int) -> int:
    """Write the message to stderr as one line; return the exit code."""
    typer.echo(f"proce: {' '.join(message.split())}", err=True)
    return exit_code


def _request_message(error: Exception) -> str:
    if isinstance(error, typer.TyperException):
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "proce"
        message = error.format_message()
        end = "" if message.endswith((".", "?")) else "."
        return f"{message}{end} See '{path} --help'."
    return str(error)


def _system_message(error: OSError | MemoryError) -> str:
    """Return what the system could not do: a full disk, a missing file, no memory."""
    if isinstance(error, MemoryError):
        return "out of memory. Explain fewer rows at a time, or write .csv or .parquet."
    name = f" ({error.filename})" if getattr(error, "filename", None) else ""
    return f"{error.strerror or error}{name}."


def _give_up_full_stdout() -> None:
    """Leave a stdout that takes nothing more, where `_stdout_closed` does not."""
    # Python would try again at exit, and change its code.
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _stdout_closed() -> bool:
    """Return whether the reader of our stdout has closed it, as in ``proce ... | head``."""
    # A pipe to a worker process can break too, and that is a failure.
    try:
        stdout = sys.stdout.fileno()
    except OSError:
        return False
    poll = select.poll()
    poll.register(stdout, 0)
    if not any(events & select.POLLERR for _, events in poll.poll(0)):
        return False
    # Python flushes once more at exit, and must not find the closed pipe again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), stdout)
    return True
