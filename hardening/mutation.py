"""Changes a room's modules in small ways, one at a time, and tells which changes no test notices.

    python hardening/mutation.py rules --sample 200 --seed 0
    python hardening/mutation.py rules --resume     # go on where a run ended
    python hardening/mutation.py rules --survivors  # try those again that no test noticed

See docs/hardening.md.
"""

import argparse
import importlib
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["HYPOTHESIS_PROFILE"] = "mutants"
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "hardening")]

# What the package stands on is imported once, and shared by all forks; the package itself is not.
for name in ("causallearn", "matplotlib.pyplot", "numba", "pandas", "pydantic", "scipy.optimize",
             "scipy.stats", "sklearn.ensemble", "sklearn.linear_model", "torch"):  # fmt: skip
    importlib.import_module(name)

import pytest  # noqa: E402
from hypothesis import Phase, settings  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.progress import Progress  # noqa: E402

from mutants.finding import sample_of  # noqa: E402
from mutants.mutant import Mutant, Verdict  # noqa: E402
from mutants.recording import read_recordings, write_recordings  # noqa: E402
from mutants.results import (  # noqa: E402
    equivalents,
    is_killed,
    read_records,
    score_lines,
    write_record,
)
from mutants.rooms import ROOMS, SOURCE, Room, holds_kernels, module_name  # noqa: E402
from mutants.testing import (  # noqa: E402
    PYTEST_OPTIONS,
    CollectedTests,
    chosen_tests,
    trial_of_import,
)

Trial = Callable[[Mutant, list[str], float], Verdict]
_RESULTS = ROOT / ".cache" / "mutants"


class MutationRun:
    """The mutants of one room, tried one after the other.

    A plugin of pytest: the tests are collected once, and where they would be run, they are run on
    each mutant instead.
    """

    def __init__(self, name: str, mutants: list[Mutant], max_seconds: float) -> None:
        self.room: Room = ROOMS[name]
        self.results = _RESULTS / f"{name}.jsonl"
        self.recordings = _RESULTS / f"{name}.tests.json"
        self.mutants = mutants
        self.max_seconds = max_seconds
        self.console = Console(file=os.fdopen(os.dup(2), "w", encoding="utf-8"))
        self._killers: dict[tuple[str, str], Counter[str]] = {}

    def try_functions(self) -> None:
        """Try the changes inside functions, in a process that has imported the package."""
        process = os.fork()
        if process == 0:
            code = pytest.main([*PYTEST_OPTIONS, *self.room.test_paths()], plugins=[self])
            os._exit(int(code))
        _, status = os.waitpid(process, 0)
        if status:
            raise SystemExit(f"the tests of the room could not be collected: status {status}")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try every mutant in the place of a plain run of the tests."""
        modules = self.room.modules()
        for path in modules:
            importlib.import_module(module_name(path))
        tests = CollectedTests(session, modules)
        for as_python in (False, True):
            self.console.print(f"recording which lines each test runs, kernels {as_python=}")
            known = read_recordings(self.recordings)
            for so_far in tests.record(known, as_python, self.console.print):
                write_recordings(self.recordings, so_far)
        inside = [mutant for mutant in self.mutants if mutant.function]

        def trial(mutant: Mutant, names: list[str], seconds: float) -> Verdict:
            return tests.trial(mutant, names, seconds)

        self._refuse_failing_tests({own.module: own for own in inside}.values(), trial)
        self._try_each(inside, trial)
        return True

    def try_imports(self) -> None:
        """Try the changes that are noticed when a module is imported, in this process' forks."""

        def trial(mutant: Mutant, names: list[str], seconds: float) -> Verdict:
            return trial_of_import(mutant, names, seconds, self.room.modules())

        at_import = [mutant for mutant in self.mutants if not mutant.function]
        self._refuse_failing_tests({own.module: own for own in at_import}.values(), trial)
        self._try_each(at_import, trial)

    def _refuse_failing_tests(self, mutants: Iterable[Mutant], trial: Trial) -> None:
        """End the run where tests fail though nothing is changed in the modules of mutants."""
        recordings = read_recordings(self.recordings)
        for mutant in mutants:
            text = (SOURCE / "proce" / mutant.module).read_text("utf-8")
            runs = recordings.runs(holds_kernels(mutant.module))
            names, seconds = chosen_tests(runs, mutant, {}, self.max_seconds)
            unchanged = replace(mutant, source=text)
            verdict = trial(unchanged, names, seconds) if names else Verdict("survived", "", 0.0)
            if verdict.outcome != "survived":
                raise SystemExit(f"{mutant.module}: {verdict.by} fails without any change")

    def _try_each(self, mutants: list[Mutant], trial: Trial) -> None:
        recordings = read_recordings(self.recordings)
        with Progress(console=self.console) as progress:
            for mutant in progress.track(mutants, description=self.results.stem):
                killers = self._killers.setdefault((mutant.module, mutant.function), Counter())
                runs = recordings.runs(holds_kernels(mutant.module))
                names, seconds = chosen_tests(runs, mutant, killers, self.max_seconds)
                verdict = trial(mutant, names, seconds) if names else Verdict("unreached", "", 0.0)
                write_record(self.results, mutant, verdict)
                if verdict.outcome == "killed":
                    killers[verdict.by] += 1


def main() -> None:
    """Read the command line, try the mutants, and tell the scores."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("room", choices=ROOMS)
    parser.add_argument("--sample", type=int, default=200, help="how many mutants")
    parser.add_argument("--seed", type=int, default=0, help="which of them")
    parser.add_argument("--seconds", type=float, default=20.0, help="tests for each mutant")
    parser.add_argument("--resume", action="store_true", help="leave out what is known")
    parser.add_argument("--survivors", action="store_true", help="only what no test noticed")
    options = parser.parse_args()
    off = [Phase.shrink, Phase.explain, Phase.reuse]
    phases = [phase for phase in Phase if phase not in off]
    settings.register_profile("mutants", derandomize=True, deadline=None, phases=phases)

    results = _RESULTS / f"{options.room}.jsonl"
    if not (options.resume or options.survivors):
        results.unlink(missing_ok=True)
    known = read_records(results)
    mutants = sample_of(ROOMS[options.room].modules(), options.sample, options.seed)
    sampled = {mutant.key for mutant in mutants}
    if options.survivors:
        failed = {key for key, record in known.items() if not is_killed(record)}
        mutants = [mutant for mutant in mutants if mutant.key in failed]
    elif options.resume:
        mutants = [mutant for mutant in mutants if mutant.key not in known]
    run = MutationRun(options.room, mutants, options.seconds)
    run.try_functions()
    run.try_imports()
    records = [record for key, record in read_records(results).items() if key in sampled]
    print("\n".join(score_lines(records, equivalents())))


if __name__ == "__main__":
    main()
