"""Which lines each test runs when nothing is changed, kept between runs."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self


@dataclass(frozen=True)
class TestRun:
    """What a test does to the modules of a room when nothing is changed.

    Attributes
    ----------
    seconds
        The processor time that it takes.
    lines
        The lines that it runs, by module.
    """

    __test__ = False

    seconds: float
    lines: dict[str, list[int]]

    def reaches(self, module: str, first: int, last: int) -> bool:
        """Whether the test runs one of some lines."""
        return any(first <= line <= last for line in self.lines.get(module, ()))


@dataclass(frozen=True)
class Recordings:
    """What the tests of each file do, with kernels compiled and with kernels as Python."""

    files: dict[str, dict[str, Any]]

    def has(self, file: str, kernels_as_python: bool, fingerprint: str) -> bool:
        """Whether a file of tests is known as it is now."""
        return self.files.get(_name(file, kernels_as_python), {}).get("of") == fingerprint

    def adding(
        self, file: str, kernels_as_python: bool, fingerprint: str, runs: dict[str, TestRun]
    ) -> Self:
        """Return these recordings with those of one more file."""
        told = {name: [run.seconds, run.lines] for name, run in runs.items()}
        entry = {"of": fingerprint, "runs": told}
        return type(self)({**self.files, _name(file, kernels_as_python): entry})

    def runs(self, kernels_as_python: bool) -> dict[str, TestRun]:
        """Return what every test does."""
        return {
            name: TestRun(*run)
            for file, entry in self.files.items()
            if file == _name(file.split(" ")[0], kernels_as_python)
            for name, run in entry["runs"].items()
        }


def _name(file: str, kernels_as_python: bool) -> str:
    return f"{file} {'as Python' if kernels_as_python else 'compiled'}"


def fingerprint(paths: Iterable[Path]) -> str:
    """Return what tells the contents of files from all others."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def read_recordings(path: Path) -> Recordings:
    """Return what an earlier run has recorded; nothing without one."""
    return Recordings(json.loads(path.read_text("utf-8")) if path.exists() else {})


def write_recordings(path: Path, recordings: Recordings) -> None:
    """Keep recordings for later runs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(recordings.files), "utf-8")
