"""The causal modes: which one is used, and what each needs of the fitted parts."""

from dataclasses import replace
from typing import Any, cast, get_args

from proce.arguments import brief
from proce.arrays import Array
from proce.causal import Ensemble, StructuralCausalModel
from proce.errors import SearchError, did_you_mean
from proce.methods.fitting.fitted import FittedParts
from proce.objective import Mode

_WITH_CAUSES = ("hard", "soft", "paper")
_WITH_REFITS = ("hard", "soft")


def resolve_mode(causal: Any, scm: StructuralCausalModel | None) -> Mode:
    """Return the mode for an option ``causal=``, which depends on the causal model for ``auto``."""
    known = ("auto", *get_args(Mode))
    if not isinstance(causal, str) or causal not in known:
        raise SearchError(
            f"causal is {brief(causal)}; expected one of {', '.join(map(repr, known))}."
            + did_you_mean(causal, known)
        )
    if causal in _WITH_CAUSES and scm is None:
        raise SearchError(
            f"causal={causal!r} needs a causal graph; give graph=[(cause, effect), ...],"
            " graph='discover', or causal='off'."
        )
    if causal != "auto":
        return cast(Mode, causal)
    if scm is None:
        return "off"
    return "soft" if scm.graph.origin.discovered else "hard"


def in_mode(fitted: FittedParts, causal: Any) -> FittedParts:
    """Return the same parts in another causal mode; nothing but refits is fitted anew."""
    if fitted.scm is None and isinstance(causal, str) and causal in _WITH_CAUSES:
        raise SearchError(
            f"causal={causal!r} needs a causal graph, and this explainer was fitted without one or"
            " with causal='off', which keeps none. Fit it with graph= and another mode."
        )
    mode = resolve_mode(causal, fitted.scm)
    refits = fitted.refits
    if refits is None and fitted.left_out is None:
        settings = fitted.settings
        refits = fit_refits(fitted.scm, fitted.rows, mode, settings.n_refits, fitted.seed)
    return replace(
        fitted,
        scm=fitted.scm if mode != "off" else None,
        ensemble=fitted.ensemble if mode != "off" else None,
        refits=refits if mode in _WITH_REFITS else None,
        mode=mode,
    )


def fit_refits(
    scm: StructuralCausalModel | None, rows: Array, mode: Mode, n_refits: int, seed: int
) -> Ensemble | None:
    """Fit the equations again on resampled rows, in the modes that prefer advice that holds."""
    if scm is None or mode not in _WITH_REFITS or not n_refits or not scm.records:
        return None
    return Ensemble.refit(scm, rows, n_refits, seed)
