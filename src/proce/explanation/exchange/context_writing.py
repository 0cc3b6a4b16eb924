"""Writes what all explanations of a call share: features, scale, model, graph, request."""

import json
from typing import Any

from proce.explanation.exchange.plain_json import plain_json
from proce.explanation.record.context import Context
from proce.schema import Continuous
from proce.schema.frames.layout_json import layout_to_json

Plain = dict[str, Any]


def context_record(context: Context) -> Plain:
    """Return all that explanations share as plain values; contexts with the same are the same."""
    return {
        "schema": json.loads(context.codec.schema.to_json()),
        "scale": scale_record(context),
        "training_layout": layout_to_json(context.codec.layout),
        "model": model_record(context),
        "graph": {
            "edges": [list(edge) for edge in context.edges],
            "origin": context.origin,
            "n_graphs": context.n_graphs,
            "n_refits": context.n_refits,
        },
        "spread": plain_json(context.spread),
        "request": plain_json(
            {
                "vary": context.vary,
                "ranges": context.ranges,
                "effort": {name: float(effort) for name, effort in context.effort.items()},
                **({"rules": context.rules} if context.rules else {}),
            }
        ),
    }


def model_record(context: Context) -> Plain:
    """Return what is said of the model: its classes, its decision, and other models beside it."""
    return {
        "classes": list(context.classes),
        **_class_labels(context),
        "needed": [float(share) for share in context.needed],
        "threshold": None if context.threshold is None else float(context.threshold),
        **({} if context.lead is None else {"lead": float(context.lead)}),
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
        **({} if context.robust is None else {"robust": float(context.robust)}),
    }
