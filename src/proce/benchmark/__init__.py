"""The paper's evaluation: run a plan, and make tables and figures of the recorded run."""

from proce.benchmark.folder import RunFolder
from proce.benchmark.measuring.run import run_plan
from proce.benchmark.plan import Plan, PlanCell, Variant

__all__ = ["Plan", "PlanCell", "RunFolder", "Variant", "run_plan"]
