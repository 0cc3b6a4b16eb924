"""Small changes of the source: which are made, and whether a test that fails is noticed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mutmut", reason="the extra 'hardening' is not installed")

from mutants.finding import changes_of, sample_of
from mutants.mutant import Mutant
from mutants.recording import TestRun
from mutants.results import score_lines
from mutants.rooms import ROOMS, SOURCE
from mutants.testing import chosen_tests

ROOT = Path(__file__).parents[2]
HARDENING = ROOT / "hardening"
MODULE = SOURCE / "proce" / "schema" / "rules" / "syntax.py"

TEST = """
from proce.schema.rules.syntax import KEYWORDS, tokenize

def test_a_rule_has_an_end():
    assert tokenize("a > 1")[-1].kind == "end" and "and" in KEYWORDS
"""
CHANGES = {
    "none": ("", ""),
    "deadly": ('Token("end"', 'Token("start"'),
    "endless": ("offset = match.end()", "offset = 0"),
    "crashing": ("offset = 0", "import os; os.abort()"),
    "at import": ('"and", ', ""),
}


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where a module of the package would stand, in a folder of its own."""
    monkeypatch.setattr("mutants.finding.SOURCE", tmp_path)
    path = tmp_path / "proce" / "sums.py"
    path.parent.mkdir()
    return path


def changes(path: Path, code: str) -> list[tuple[str, str]]:
    path.write_text(code, "utf-8")
    mutants = [change.mutant() for change in changes_of(path)]
    return [(mutant.before, mutant.after) for mutant in mutants if mutant is not None]


def test_an_operator_and_a_number_are_changed(text: Path) -> None:
    code = "def add(a, b):\n    return a + b * 2\n"
    assert ("a + b * 2", "a - b * 2") in changes(text, code)
    assert ("2", "3") in changes(text, code)


@pytest.mark.parametrize(
    "code",
    [
        'def add(a):\n    """Add 1 to a."""\n',
        "Pair = tuple[int, int]\n",
        "def add(a: int = ..., b: tuple[int, 3] = ...) -> tuple[int, 3]:\n    ...\n",
        "def add(a):\n    raise ValueError(1, 'x')\n",
        "def add(a):\n    assert a + 1 == 2, 'x'\n",
        "def add(a):\n    logger.debug('x', 1)\n",
        "def __repr__(a):\n    return a + 1\n",
        "@dataclass(frozen=True)\nclass Sum:\n    a: int\n",
        "if TYPE_CHECKING:\n    a = 1\n",
        "def add():\n    return field(repr=False)\n",
    ],
)
def test_what_nobody_can_notice_is_left_alone(text: Path, code: str) -> None:
    assert changes(text, code) == []


def test_a_text_with_a_space_is_a_message(text: Path) -> None:
    code = "def add(a):\n    return a in ('two words', 'word')\n"
    assert {before for before, _ in changes(text, code)} == {"in", "'word'"}


def test_what_runs_at_import_belongs_to_no_function(text: Path) -> None:
    text.write_text(
        "A = 1\n\n\nclass Sum:\n    b: int = 2\n\n    def add(self, c=3):\n        return 4\n"
    )
    mutants = [change.mutant() for change in changes_of(text)]
    numbers = [own for own in mutants if own is not None and own.operator == "number"]
    found = [(own.before, own.function, own.lines) for own in numbers]
    assert found == [
        ("1", "", (1, 1)),
        ("2", "", (5, 5)),
        ("3", "", (7, 7)),
        ("4", "Sum.add", (8, 8)),
    ]


def test_a_sample_depends_on_its_seed_alone() -> None:
    first, again, other = (sample_of([MODULE], 5, seed) for seed in (0, 0, 1))
    assert [mutant.key for mutant in first] == [mutant.key for mutant in again]
    assert [mutant.key for mutant in first] != [mutant.key for mutant in other]


def test_the_rooms_have_modules_and_tests() -> None:
    for room in ROOMS.values():
        assert len(room.modules()) > 5
        assert all((ROOT / path).exists() for path in [*room.test_paths(), *room.modules()])


def mutant(function: str = "add", lines: tuple[int, int] = (3, 4)) -> Mutant:
    return Mutant("sums.py", function, "return a", "a", "None", 0, "name", lines, 1, "")


def test_tests_that_reach_the_line_are_chosen_quick_ones_and_earlier_killers_first() -> None:
    runs = {
        "a.py::slow": TestRun(2.0, {"sums.py": [4]}),
        "b.py::quick": TestRun(0.1, {"sums.py": [3, 9]}),
        "a.py::killer": TestRun(1.0, {"sums.py": [1, 4]}),
        "b.py::elsewhere": TestRun(0.1, {"sums.py": [5], "other.py": [4]}),
    }
    names, seconds = chosen_tests(runs, mutant(), {"a.py::killer": 1}, 10.0)
    assert names == ["a.py::killer", "a.py::slow", "b.py::quick"]
    assert seconds == pytest.approx(3.1)
    assert chosen_tests(runs, mutant(), {}, 1.5)[0] == ["b.py::quick", "a.py::killer"]
    assert len(chosen_tests(runs, mutant("", (1, 1)), {}, 10.0)[0]) == 4


def test_scores_count_the_killed_among_all() -> None:
    own = {"module": "sums.py", "function": "", "statement": "", "before": "", "column": 0}
    outcomes = ("killed", "time", "survived", "survived")
    records = [{**own, "after": str(i), "outcome": what} for i, what in enumerate(outcomes)]
    equal = {("sums.py", "", "", "", "2", 0): "because"}
    assert score_lines(records, equal)[-1] == "| all | 4 | 1 | 1 | 0 | 1 | 1 | 0 | 50% |"


def test_a_trial_notices_a_failing_test_an_endless_loop_and_a_crash_and_nothing_else(
    tmp_path: Path,
) -> None:
    (tmp_path / "test_tokens.py").write_text(TEST, "utf-8")
    script = Path(__file__).with_name("try_mutants.py")
    command = [sys.executable, str(script), str(tmp_path / "test_tokens.py"), json.dumps(CHANGES)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), str(HARDENING)])}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout.decode().splitlines()[-1]) == {
        "none": "survived",
        "deadly": "killed",
        "endless": "time",
        "crashing": "crash",
        "at import": "killed",
        "none at import": "survived",
    }
