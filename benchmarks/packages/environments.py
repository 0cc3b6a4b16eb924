"""A virtual environment for each package, and its adapter run in it."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ADAPTERS = Path(__file__).parent / "adapters"
_BEGIN, _END = "# user code begins", "# user code ends"
_MAX_REASON = 300  # characters


@dataclass(frozen=True)
class Package:
    """A package that is compared.

    Attributes
    ----------
    name
        What it is called in the table.
    adapter
        The script that asks it.
    requirements
        What pip is asked for; none where the adapter runs beside ProCE.
    methods
        What it is asked to do, each in a process of its own; ``what_if`` tells consequences.
    before
        What pip is asked for first, call by call, where a package does not say what it needs.
    """

    name: str
    adapter: str
    requirements: tuple[str, ...]
    methods: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()


# The pin of PyTorch is that of constraints.txt, so that the same wheel serves all.
PACKAGES = (
    Package("ProCE", "with_proce.py", (), ("default", "no graph", "bare", "what_if")),
    Package("DiCE", "with_dice.py", ("dice-ml==0.12",), ("random", "genetic")),
    Package("NICE", "with_nice.py", ("NICEx==0.2.3", "scikit-learn"), ("sparsity", "proximity")),
    # Its spaCy imports click, which came with typer once and does no longer.
    Package("alibi", "with_alibi.py", ("alibi==0.9.6", "torch==2.13.0", "click"), ("CFRL",)),
    Package(
        "CEL",
        "with_cel.py",
        # It imports GPyOpt, which imports GPy and pkg_resources; none of them says so.
        ("ce-library==0.1.1", "torch==2.13.0", "GPyOpt", "GPy", "setuptools<80", "click"),
        ("PPCEF",),
        before=(
            ("Cython", "numpy<2", "setuptools<80", "wheel"),
            ("--no-build-isolation", "portmin"),  # is built with Cython, and does not say so
        ),
    ),
    Package("DoWhy", "with_dowhy.py", ("dowhy==0.14",), ("what_if",)),
)


class CannotRunError(Exception):
    """A package could not be installed, or its adapter did not begin to answer."""


def python_of(package: Package, envs: Path, install_seconds: float) -> Path:
    """Return the interpreter of a package, installed if it is not yet.

    What pip could not install is not tried again; remove the environment's folder to do so.
    """
    if not package.requirements:
        return Path(sys.executable)
    folder = envs / package.name.lower()
    if not folder.exists():
        install(package, envs, install_seconds)
    reason = failure_of(package, envs)
    if reason:
        raise CannotRunError(reason)
    return folder / "bin" / "python"


def install(package: Package, envs: Path, seconds: float) -> None:
    """Make an environment and install a package; leave a file with the reason where it fails."""
    folder, log = envs / package.name.lower(), envs / f"{package.name.lower()}.log"
    failed = envs / f"{package.name.lower()}.failed"
    envs.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--no-compile"]
    failed.write_text("the installation was interrupted", "utf-8")
    with log.open("w", encoding="utf-8") as file:
        try:
            for wanted in (*package.before, package.requirements):
                subprocess.run(
                    [*command, *wanted], stdout=file, stderr=file, check=True, timeout=seconds
                )
        except subprocess.TimeoutExpired:
            failed.write_text(f"not installed within {seconds:g} s", "utf-8")
        except subprocess.CalledProcessError:
            failed.write_text(f"not installed: {last_collected(log)}{last_error(log)}", "utf-8")
        else:
            failed.unlink()


def failure_of(package: Package, envs: Path) -> str:
    """Return why a package could not be installed; empty where it was."""
    failed = envs / f"{package.name.lower()}.failed"
    return failed.read_text("utf-8") if failed.exists() else ""


def run_adapter(
    package: Package, method: str, python: Path, task: Path, out: Path, seconds: tuple[float, float]
) -> None:
    """Run an adapter on a task; what it answered lies in ``out`` even if it was stopped.

    Parameters
    ----------
    package, method, python
        What is asked, and where.
    task, out
        The folders of the task and of the answers.
    seconds
        How long the process may take in wall time, and a row in CPU time.
    """
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    settings = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
    )
    surroundings = os.environ | settings
    if package.requirements:
        surroundings.pop("PYTHONPATH", None)  # nothing of ours beside another package
    paths = [str(path) for path in (python, ADAPTERS / package.adapter, task, out)]
    command = [*paths, method, str(seconds[1])]
    with (out / "log.txt").open("w", encoding="utf-8") as log:
        try:
            done = subprocess.run(
                command,
                stdout=log,
                stderr=log,
                timeout=seconds[0],
                env=surroundings,
                cwd=out,
                check=False,
            )
        except subprocess.TimeoutExpired:
            (out / "stopped.txt").write_text(f"stopped after {seconds[0]:g} s", "utf-8")
            return
    if done.returncode:
        (out / "stopped.txt").write_text(last_error(out / "log.txt"), "utf-8")


def read_run(out: Path) -> tuple[dict[str, Any], list[dict[str, Any]], str]:
    """Return what an adapter recorded, its answers, and why it stopped if it did."""
    record: dict[str, Any] = {}
    answers: list[dict[str, Any]] = []
    if (out / "run.json").exists():
        record = json.loads((out / "run.json").read_text("utf-8"))
    if (out / "answers.jsonl").exists():
        lines = (out / "answers.jsonl").read_text("utf-8").splitlines()
        answers = [json.loads(line) for line in lines if line.endswith("}")]
    stopped = out / "stopped.txt"
    return record, answers, stopped.read_text("utf-8") if stopped.exists() else ""


def last_error(log: Path) -> str:
    """Return the last line of a log that tells of an error, shortened."""
    lines = log.read_text("utf-8", errors="replace").splitlines() if log.exists() else []
    errors = [
        line for line in lines if re.match(r"\s*(ERROR\b|\w*(\.\w+)*(Error|Exception)\b)", line)
    ]
    text = " ".join((errors or lines or ["no word of why"])[-1].split())
    return text if len(text) <= _MAX_REASON else f"{text[:_MAX_REASON]}…"


def last_collected(log: Path) -> str:
    """Return what pip was after when it failed, for the beginning of a reason."""
    found = re.findall(r"^Collecting (\S+.*)$", log.read_text("utf-8", errors="replace"), re.M)
    return f"at {found[-1]}: " if found else ""


def lines_of_code(adapter: str, what_if: bool) -> int:
    """Return how many lines a user writes, from a model and a description to an answer.

    Counted are lines between the marks that are neither blank nor comments. Of an adapter that
    both explains and tells consequences, the function of the other question is left out.
    """
    text = (ADAPTERS / adapter).read_text("utf-8")
    other = "explainer" if what_if else "what_if"
    text = re.sub(rf"^def {other}\(.*?(?=^\S)", "", text, flags=re.DOTALL | re.MULTILINE)
    blocks = re.findall(rf"{_BEGIN}\n(.*?){_END}", text, flags=re.DOTALL)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    return sum(bool(line) and not line.startswith("#") for line in lines)
