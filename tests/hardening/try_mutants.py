"""Tries changes of a module that are given as texts: run by test_mutants.py in its own process."""

import importlib
import json
import os
import sys
from pathlib import Path

import pytest

from mutants.mutant import Mutant
from mutants.rooms import SOURCE, module_name
from mutants.testing import PYTEST_OPTIONS, CollectedTests, trial_of_import

MODULE = SOURCE / "proce" / "schema" / "rules" / "tokens.py"
SECONDS = 1.0


def changed(function: str, before: str, after: str) -> Mutant:
    """Return the module with a text replaced once; the last one of its kind, inside a function."""
    text = MODULE.read_text("utf-8")
    parts = text.rsplit(before, 1) if before else [text]
    line = text[: text.index(f"def {function}(")].count("\n") + 1
    name = MODULE.relative_to(SOURCE / "proce").as_posix()
    return Mutant(name, function, "", before, after, 0, "", (1, 1), line, after.join(parts))


class Trials:
    """A plugin that tries the changes inside a function where the tests would be run."""

    def __init__(self, changes: dict[str, tuple[str, str]]) -> None:
        self.changes = changes
        self.outcomes: dict[str, str] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try every change on all tests."""
        importlib.import_module(module_name(MODULE))
        tests = CollectedTests(session, [MODULE])
        names = [item.nodeid for item in session.items]
        for kind, texts in self.changes.items():
            mutant = changed("tokenize", *texts)
            self.outcomes[kind] = tests.trial(mutant, names, SECONDS).outcome
        return True


def main(test: Path, changes: dict[str, tuple[str, str]]) -> None:
    """Try all changes, and print what became of each."""
    at_import = {"at import": changes.pop("at import"), "none at import": ("", "")}
    outcomes = {}
    for kind, texts in at_import.items():
        mutant = changed("tokenize", *texts)
        outcomes[kind] = trial_of_import(mutant, [str(test)], SECONDS, False).outcome
    trials = Trials(changes)
    pytest.main([*PYTEST_OPTIONS, str(test)], plugins=[trials])
    print(json.dumps({**outcomes, **trials.outcomes}))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
