"""Tests that are collected once, and then run in forks: which lines they run, and which fail."""

import importlib
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import coverage
import pytest
from hypothesis import settings

from mutants.forking import Ending, in_fork
from mutants.installing import ChangedModule, Functions, interpret_kernels
from mutants.mutant import Mutant, Verdict
from mutants.recording import Recordings, TestRun, fingerprint
from mutants.rooms import ROOT, SOURCE, holds_kernels, module_name

_MAX_SECONDS = 120.0  # of one file of tests, while its lines are recorded
_MAX_PYTHON_SECONDS = 10.0  # the same with kernels as Python, after which no other test begins
_MAX_TEST_SECONDS = 2.0  # of one test with kernels as Python
_NEXT_TRY_SECONDS = 0.01  # after which such a test is ended that could not be ended at once
_N_PYTHON_EXAMPLES = 5  # of a property, with kernels as Python
_IMPORT_SECONDS = 20.0  # of the package and of the tests
_SLACK_SECONDS, _SLACK_FACTOR = 5.0, 4.0  # what a mutant may take beyond its tests' usual time
_COVERAGE = Path(coverage.__file__).parent

PYTEST_OPTIONS = (
    *("-q", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:benchmark"),
    *("-m", "not slow", "-W", "ignore::pytest.PytestAssertRewriteWarning"),
)


class Recorder:
    """A plugin that tells which tests fail, and in whose name lines are run."""

    def __init__(
        self,
        on_context: Callable[[str], None] | None = None,
        max_test_seconds: float = 0.0,
    ) -> None:
        self.failed: list[str] = []
        self.seconds: dict[str, float] = {}
        self._on_context = on_context
        self._max_test_seconds = max_test_seconds
        signal.signal(signal.SIGPROF, _stop_test)
        self._context = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what failed."""
        if report.failed:
            self.failed.append(report.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note how long a test takes, and that its lines are its own."""
        before = time.process_time()
        self._enter(item.nodeid)
        signal.setitimer(signal.ITIMER_PROF, self._max_test_seconds)
        yield
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        self.seconds[item.nodeid] = time.process_time() - before

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """Note that the lines of a fixture belong to every test that asks for it."""
        context = self._context
        self._enter(fixture_context(fixturedef))
        yield
        self._enter(context)

    def _enter(self, context: str) -> None:
        self._context = context
        if self._on_context is not None:
            self._on_context(context)


def _stop_test(number: int, frame: FrameType | None) -> None:
    # What records lines would keep its lock for ever: it is left to end first.
    if frame is not None and Path(frame.f_code.co_filename).parent == _COVERAGE:
        signal.setitimer(signal.ITIMER_PROF, _NEXT_TRY_SECONDS)
        return
    raise TimeoutError("this test takes too long where kernels run as Python")


def fixture_context(fixturedef: Any) -> str:
    """Return a name for a fixture that two fixtures do not share."""
    return f"fixture {fixturedef.baseid} {fixturedef.argname}"


class CollectedTests:
    """The tests of a room, ready to run in forks; in the process that collected them none runs."""

    def __init__(self, session: pytest.Session, modules: Sequence[Path]) -> None:
        self.session = session
        self._items = {item.nodeid: item for item in session.items}
        self._modules = list(modules)
        self._functions = Functions(modules)

    def record(
        self, known: Recordings, kernels_as_python: bool, on_file: Callable[[str], None]
    ) -> Iterator[Recordings]:
        """Yield what every test does that passes, file by file; one that is known is not run."""
        by_file: dict[str, list[str]] = {}
        for name in self._items:
            by_file.setdefault(name.split("::")[0], []).append(name)
        for file, names in by_file.items():
            print_of_file = fingerprint([ROOT / file, *self._modules])
            if known.has(file, kernels_as_python, print_of_file):
                continue
            on_file(file)
            ending = in_fork(lambda own=names: self._record(own, kernels_as_python), _MAX_SECONDS)
            told = {name: TestRun(*run) for name, run in (ending.sent or {}).items()}
            known = known.adding(file, kernels_as_python, print_of_file, told)
            yield known

    def _record(self, names: Sequence[str], kernels_as_python: bool) -> dict[str, Any]:
        if kernels_as_python:
            interpret_kernels()
            _try_few_examples(self._items.values())
        files = [str(path) for path in self._modules]
        covering = coverage.Coverage(data_file=None, include=files, config_file=False)
        covering.start()
        recorder = Recorder(covering.switch_context, _MAX_TEST_SECONDS * kernels_as_python)
        end = time.process_time() + (_MAX_PYTHON_SECONDS if kernels_as_python else _MAX_SECONDS)
        self._run(
            [self._items[name] for name in names], recorder, lambda: time.process_time() > end
        )
        covering.stop()
        data, told = covering.get_data(), {}
        lines_of: dict[str, dict[str, list[int]]] = {}
        for file in data.measured_files():
            module = Path(file).relative_to(SOURCE / "proce").as_posix()
            for line, contexts in data.contexts_by_lineno(file).items():
                for context in contexts:
                    lines_of.setdefault(context, {}).setdefault(module, []).append(line)
        for name in names:
            item = self._items[name]
            definitions = item._fixtureinfo.name2fixturedefs.values()  # type: ignore[attr-defined]
            contexts = {name, *(fixture_context(own) for defined in definitions for own in defined)}
            lines: dict[str, list[int]] = {}
            for context in contexts:
                for module, own in lines_of.get(context, {}).items():
                    lines[module] = sorted({*lines.get(module, ()), *own})
            if name not in recorder.failed and name in recorder.seconds:
                told[name] = (recorder.seconds[name], lines)
        return told

    def _run(
        self, items: Sequence[pytest.Item], recorder: Recorder, is_over: Callable[[], bool]
    ) -> None:
        self.session.config.pluginmanager.register(recorder)
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if is_over():
                return

    def trial(self, mutant: Mutant, names: Sequence[str], seconds: float) -> Verdict:
        """Run tests on a change inside a function until one fails."""

        def work() -> list[str]:
            self._functions.install(mutant)
            if holds_kernels(mutant.module):
                _try_few_examples(self._items.values())
            recorder = Recorder()
            items = [self._items[name] for name in names]
            self._run(items, recorder, lambda: bool(recorder.failed))
            return recorder.failed[:1]

        return verdict_of(in_fork(work, _SLACK_SECONDS + _SLACK_FACTOR * seconds))


class KernelsAsPython:
    """A plugin that lets the kernels of modules run as Python once the tests are collected."""

    def __init__(self, modules: Sequence[Path]) -> None:
        self._modules = modules

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Do so, on few examples."""
        for path in self._modules:
            importlib.import_module(module_name(path))
        interpret_kernels()
        _try_few_examples(session.items)


def _try_few_examples(items: Iterable[pytest.Item]) -> None:
    """Let properties be tried on few examples, because kernels as Python take long."""
    for item in items:
        function = getattr(item, "obj", None)
        held = getattr(function, "_hypothesis_internal_use_settings", None)
        if held is not None:
            few = settings(held, max_examples=min(held.max_examples, _N_PYTHON_EXAMPLES))
            function._hypothesis_internal_use_settings = few


def trial_of_import(
    mutant: Mutant, names: Sequence[str], seconds: float, modules: Sequence[Path]
) -> Verdict:
    """Run tests on a change that is noticed when its module is imported, until one fails.

    Nothing of the package may have been imported in this process; ``modules`` are the room's.
    """

    def work() -> list[str]:
        sys.meta_path.insert(0, ChangedModule(mutant))
        recorder = Recorder()
        as_python = [KernelsAsPython(modules)] if holds_kernels(mutant.module) else []
        code = pytest.main([*PYTEST_OPTIONS, "-x", *names], plugins=[recorder, *as_python])
        return recorder.failed[:1] or ([] if code == pytest.ExitCode.OK else ["import"])

    return verdict_of(in_fork(work, _IMPORT_SECONDS + _SLACK_SECONDS + _SLACK_FACTOR * seconds))


def verdict_of(ending: Ending) -> Verdict:
    """Return what the end of a trial says."""
    if ending.sent is None:
        outcome = "time" if ending.signal in (signal.SIGXCPU, signal.SIGKILL) else "crash"
        return Verdict(outcome, f"signal {ending.signal}", round(ending.seconds, 2))
    outcome = "killed" if ending.sent else "survived"
    return Verdict(outcome, *(ending.sent or [""]), round(ending.seconds, 2))


def chosen_tests(
    runs: Mapping[str, TestRun], mutant: Mutant, killers: Mapping[str, int], max_seconds: float
) -> tuple[list[str], float]:
    """Return the tests that may notice a mutant, and how long they take together.

    Tests that have noticed another change of the same function come first, then those that are
    quick; tests of one file stay together, because they share fixtures.

    Parameters
    ----------
    runs
        What each test does.
    mutant
        The change.
    killers
        How many changes of the same function each test has noticed.
    max_seconds
        The processor time beyond which no more tests are taken.
    """
    first, last = mutant.lines if mutant.function else (0, sys.maxsize)
    able = [name for name, run in runs.items() if run.reaches(mutant.module, first, last)]
    able.sort(key=lambda name: (-killers.get(name, 0), runs[name].seconds, name))
    taken, total = [], 0.0
    for name in able:
        if taken and total + runs[name].seconds > max_seconds:
            break
        taken.append(name)
        total += runs[name].seconds
    files = {name.split("::")[0]: place for place, name in reversed(list(enumerate(taken)))}
    return sorted(taken, key=lambda name: files[name.split("::")[0]]), total
