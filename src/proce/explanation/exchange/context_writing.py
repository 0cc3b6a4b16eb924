"""Writes what all explanations of a call share about the model and the scale."""

from typing import Any

from proce.explanation.record.context import Context
from proce.schema import Continuous

Plain = dict[str, Any]


def model_record(context: Context) -> Plain:
    """Return what is said of the model: its classes, its decision, and other models beside it."""
    return {
        "classes": list(context.classes),
        **_class_labels(context),
        "needed": list(context.needed),
        "threshold": context.threshold,
        **({} if context.lead is None else {"lead": context.lead}),
        **_other_models(context),
    }


def scale_record(context: Context) -> Plain:
    """Return the scale of each feature, and whether it may be missing."""
    codec = context.codec
    scale: Plain = {}
    for position, feature in enumerate(codec.schema):
        own: Plain = {}
        if isinstance(feature, Continuous):
            own = {"low": codec.low[position].item(), "span": codec.span[position].item()}
            if codec.lowest[position] != 0 or codec.highest[position] != 1:
                own["seen"] = [codec.seen_low[position].item(), codec.seen_high[position].item()]
            if codec.resolution[position] != (feature.step or 0.0):
                own["resolution"] = codec.resolution[position].item()
        scale[feature.name] = {**own, "may_miss": codec.may_miss[position].item()}
    return scale


def _class_labels(context: Context) -> Plain:
    """Return the words for the classes in their order, where any class has some."""
    if not context.class_labels:
        return {}
    return {"class_labels": [context.class_labels.get(label) for label in context.classes]}


def _other_models(context: Context) -> Plain:
    """Return how many other models were asked, where there were any."""
    if not context.n_models:
        return {}
    return {
        "n_models": context.n_models,
        "models_are_refits": context.models_are_refits,
        **({} if context.robust is None else {"robust": context.robust}),
    }
