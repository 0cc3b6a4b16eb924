"""The rooms whose tests are put to the proof: modules that are changed, tests that must notice."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"


@dataclass(frozen=True)
class Room:
    """Some modules and their tests.

    Attributes
    ----------
    sources
        Modules and folders of modules below ``src/proce``.
    tests
        Files and folders of tests below ``tests``.
    """

    sources: tuple[str, ...]
    tests: tuple[str, ...]

    def modules(self) -> list[Path]:
        """Return the modules of the room, sorted."""
        found: set[Path] = set()
        for name in self.sources:
            path = SOURCE / "proce" / name
            found.update([path] if path.suffix else path.rglob("*.py"))
        return sorted(path for path in found if path.stem != "__init__")

    def test_paths(self) -> list[str]:
        """Return the tests of the room, as pytest takes them."""
        return [f"tests/{name}" for name in self.tests]


ROOMS = {
    "rules": Room(("schema/rules",), ("schema/rules",)),
    "objectives": Room(("objective",), ("objective",)),
    "causal": Room(
        ("causal/models", "causal/equations", "causal/programs"),
        (
            "causal/models",
            "causal/equations",
            "causal/programs",
            "objective/test_distance.py",
        ),
    ),
    "search": Room(("search",), ("search",)),
    "last-check": Room(
        (
            "methods/calls/call.py",
            "methods/calls/call.py",
            "methods/phases/prune.py",
            "methods/phases/candidates.py",
            "methods/phases/check.py",
            "methods/phases/prune.py",
            "schema/round_trip.py",
        ),
        (
            "classifier/test_prediction.py",
            "methods/calls",
            "methods/explaining/test_asking_rules.py",
            "methods/explaining/test_contributions.py",
            "methods/explaining/test_faults.py",
            "methods/phases",
            "schema/test_round_trip.py",
        ),
    ),
}


def holds_kernels(module: str) -> bool:
    """Whether a module below ``src/proce`` holds kernels, which a test runs without lines."""
    return "@kernel" in (SOURCE / "proce" / module).read_text("utf-8")


def module_name(path: Path) -> str:
    """Return the name under which a module below ``src`` is imported."""
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)
