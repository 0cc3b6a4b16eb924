"""The options of ``proce explain`` that go to the call of the explainer."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from proce.errors import ModelError
from proce.methods.calls.explain_options import EXPLAIN_OPTIONS

if TYPE_CHECKING:
    from proce.methods import ProCE


def call_option(name: str, *flags: str, metavar: str, form: str = "") -> Any:
    """Return the command's option for one of the call, in its declared words."""
    option = EXPLAIN_OPTIONS[name]
    least = 1 if option.bounds is not None and option.bounds.whole else None
    return typer.Option(*flags, metavar=metavar, help=option.help + form, min=least)


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
