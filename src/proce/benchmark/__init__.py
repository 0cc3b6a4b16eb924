"""The paper's evaluation: run a plan, and make tables and figures of the recorded run."""

from proce.benchmark.folder import RunFolder
from proce.benchmark.plan import Plan, PlanCell, Variant
from proce.benchmark.run import run_plan

__all__ = ["Plan", "PlanCell", "RunFolder", "Variant", "run_plan"]
