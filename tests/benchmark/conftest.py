"""A run small enough for tests."""

from dataclasses import replace
from pathlib import Path

import pytest

from proce.benchmark import Plan, RunFolder, Variant, run_plan
from proce.benchmark.measuring.run import RunProgress
from proce.benchmark.presets import find_preset

QUICKEST = {"population_size": 20, "n_offspring": 20, "n_generations": 5, "n_refits": 0}


@pytest.fixture(scope="session")
def small_plan() -> Plan:
    """Two methods, of which one is also asked for nonsense; one world, four rows."""
    variants = (
        Variant(name="broken", method="Nearest", settings={"nonsense": 1}),
        Variant(name="ProCE", method="ProCE", causal="soft", settings=QUICKEST),
        Variant(name="Nearest", method="Nearest"),
        Variant(name="Nearest, rules", method="Nearest", ruled=True),
    )
    smoke = find_preset("smoke")
    return replace(smoke, name="test", datasets=("loan",), variants=variants, rows=4, repetitions=1)


@pytest.fixture(scope="session")
def reports() -> list[RunProgress]:
    """Return what the small run reports while it runs."""
    return []


@pytest.fixture(scope="session")
def small_run(
    small_plan: Plan, reports: list[RunProgress], tmp_path_factory: pytest.TempPathFactory
) -> RunFolder:
    """Return the folder of that plan, finished."""
    path: Path = tmp_path_factory.mktemp("runs") / "small"
    return run_plan(small_plan, path, jobs=1, progress=reports.append)
