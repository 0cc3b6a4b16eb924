"""The options of ``proce explain`` that go to the call of the explainer."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proce.errors import ModelError

if TYPE_CHECKING:
    from proce.explanation import Explanations
    from proce.methods import ProCE
    from proce.schema import Level


@dataclass(frozen=True)
class CallOptions:
    """The options of ``ProCE.explain`` that the command line sets."""

    target: Any
    n: int
    pick: str
    vary: list[str] | None
    ranges: "dict[str, tuple[Level, Level]]"
    max_changes: int | None
    min_probability: float | None
    rules: tuple[str, ...]
    keep_front: bool | None
    causal: str | None
    robust: float | None
    models: int | None

    def explain(self, explainer: "ProCE", table: Any, progress: Any) -> "Explanations":
        """Explain the rows of a table with these options."""
        return explainer.explain(
            table,
            target=self.target,
            n=self.n,
            pick=self.pick,  # type: ignore[arg-type] # explain() refuses what it does not know
            vary=self.vary,
            ranges=self.ranges,
            max_changes=self.max_changes,
            min_probability=self.min_probability,
            rules=self.rules,
            keep_front=self.keep_front,
            causal=self.causal,
            robust=self.robust,
            models=self.models,
            progress=progress,
        )


def require_refits(
    explainer: "ProCE", folder: Path, robust: float | None, models: int | None
) -> None:
    """Refuse ``--robust`` and ``--models`` where the explainer cannot fit its model again."""
    from proce.classifier.refits import can_refit

    if (robust is None and models is None) or explainer.fitted_.model_refits is not None:
        return
    asked = f"--models {models}" if robust is None else f"--robust {robust:g}"
    reason = "it was fitted without them. Fit it again with 'proce fit --label COLUMN --models N'."
    if not can_refit(explainer.fitted_.classifier):
        reason = (
            "its model is no estimator of scikit-learn's kind, which could be fitted again. Leave"
            f" {asked.split()[0]} out."
        )
    raise ModelError(f"{asked} needs refits of the model, and '{folder}' has none: {reason}")
