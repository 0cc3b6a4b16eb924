"""The paper's evaluation, from recorded runs only."""

from proce.benchmark.folder import RunFolder
from proce.benchmark.plan import Cell, Plan, Variant
from proce.benchmark.run import run_plan

__all__ = ["Cell", "Plan", "RunFolder", "Variant", "run_plan"]
