"""Explanations of the rows of a request: checked before, made, and told in both views."""

from collections.abc import Callable
from typing import Any, get_args

from proce.explanation import Explanations
from proce.explanation.exchange.plain_json import finite_or_none, plain_json
from proce.explanation.record.counterfactuals import OUTCOMES
from proce.explanation.record.view import protected_names
from proce.explanation.words.certainty import count_less_robust, count_unsure
from proce.methods import ProCE, Progress
from proce.methods.calls.options import Options
from proce.methods.fitting.fitted import other_models, resolve_mode
from proce.methods.pipeline import ProceCall
from proce.objective import Mode
from proce.server.explainer_api.handlers.requests import Order
from proce.server.explainer_api.handlers.role_view import RoleView
from proce.server.explainer_api.handlers.values import frame_of

MODES = get_args(Mode)
Report = Callable[[dict[str, Any]], object]


def check_order(explainer: ProCE, order: Order, role: RoleView) -> None:
    """Refuse what the explainer cannot honour; nothing is fitted or searched."""
    fitted, asked = explainer.fitted_, dict(order.options)
    if asked.pop("robust", None) is not None and fitted.model_refits is None:
        role.attempt("robust", lambda: other_models(fitted, explainer.models, None, robust=True))
    causal = asked.pop("causal", None)
    if causal is not None and (order.graph is None or causal not in MODES):
        role.attempt("causal", lambda: resolve_mode(causal, fitted.scm))
    frame = frame_of(fitted.codec, order.raw)
    role.attempt("rows", lambda: ProceCall(fitted, Options(**asked), frame))  # not run


def explain_order(explainer: ProCE, order: Order, report: Report | None = None) -> dict[str, Any]:
    """Explain the rows of an order."""
    frame = frame_of(explainer.fitted_.codec, order.raw)
    progress = None if report is None else _reporting(report)
    result = explainer.explain(frame, progress=progress, **order.options)
    return finish(result if order.labels is None else result.labelled(order.labels))


def finish(result: Explanations) -> dict[str, Any]:
    """Return explanations as text and plain values."""
    auditor = result.to_json(view="auditor")
    protected = protected_names(result.context.codec.schema)
    provenance = {name: plain_json(value) for name, value in vars(result.provenance).items()}
    del provenance["options"]  # which the request says
    return {
        "results": {
            "applicant": result.to_json(view="applicant") if protected else auditor,
            "auditor": auditor,
        },
        "summary": summary_of(result),
        "provenance": provenance,
    }


def summary_of(result: Explanations) -> dict[str, int]:
    """Return how many rows ended how, and of how many the recommended way is weak."""
    counts = result.rows.outcome_counts()
    return {
        "n_rows": len(result),
        **{outcome.value: counts.get(outcome, 0) for outcome in OUTCOMES},
        "unsure": count_unsure(result.rows),
        "less_robust": count_less_robust(result.rows),
    }


def plain_progress(progress: Progress) -> dict[str, Any]:
    """Return how far a call has come as plain values; null where a number is not known yet."""
    return {
        "stage": progress.stage,
        "done": progress.done,
        "total": progress.total,
        "generation": progress.generation,
        "best_probability": finite_or_none(progress.best_probability),
        "best_distance": finite_or_none(progress.best_distance),
        "front_size": round(progress.front_size),
    }


def _reporting(report: Report) -> Callable[[Progress], object]:
    return lambda progress: report(plain_progress(progress))
