"""The other models under which a counterfactual should keep its class."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from proce.classifier import Classifier, as_classifier
from proce.errors import ModelError, SearchError
from proce.methods.fitting.fitted import FittedParts
from proce.schema.features.levels import shown

N_MODELS = 20  # refits where robust= is given and models= is not
_EXPECTED = "a list of fitted models, or how many times the model is fitted again"


def other_models(
    fitted: FittedParts, models: Any, threshold: float | None, *, robust: bool
) -> tuple[Classifier, ...]:
    """Return the other models of a call; none where nobody asks for them."""
    if models is None:
        if not robust:
            return ()
        if fitted.model_refits is None:
            raise SearchError(
                f"robust= needs other models, and there are none: {_why_no_refits(fitted)} Give"
                " models=[...], a list of fitted models."
            )
        models = N_MODELS
    if isinstance(models, Integral) and not isinstance(models, bool):
        return _refits(fitted, int(models))
    if isinstance(models, str | bytes) or not isinstance(models, Sequence):
        raise SearchError(f"models is {models!r}; expected {_EXPECTED}.")
    if not models:
        raise SearchError(f"models is an empty list; expected {_EXPECTED}.")
    return tuple(_adapt(fitted, model, at, threshold) for at, model in enumerate(models))


def _refits(fitted: FittedParts, number: int) -> tuple[Classifier, ...]:
    if number < 1:
        raise SearchError(f"models is {number}; expected {_EXPECTED}, from 1 on.")
    if fitted.model_refits is None:
        raise SearchError(
            f"models is {number}, but the model cannot be fitted again: {_why_no_refits(fitted)}"
            " Or give models=[...], a list of fitted models."
        )
    return fitted.model_refits.first(number)


def _why_no_refits(fitted: FittedParts) -> str:
    from proce.classifier.refits import can_refit

    if not can_refit(fitted.classifier):
        return "the model is no estimator of scikit-learn's kind, which could be fitted again."
    return (
        "to fit the model again takes the labels of the training rows; call fit(X, y), or on the"
        " command line proce fit --label COLUMN --models N."
    )


def _adapt(fitted: FittedParts, model: Any, at: int, threshold: float | None) -> Classifier:
    """Return one of the given models behind the interface of the explained one."""
    try:
        adapted = as_classifier(model, fitted.codec, threshold)
    except ModelError as error:
        error.args = (f"models[{at}]: {error}",)
        raise
    if adapted.classes != fitted.classifier.classes:
        raise ModelError(
            f"models[{at}] has the classes {shown(adapted.classes)}; the model that is explained"
            f" has {shown(fitted.classifier.classes)}. Give models of the same classes."
        )
    return adapted
