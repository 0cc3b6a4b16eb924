"""ProCE itself: with its defaults, without the graph, for the bare class, and its ``what_if``."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from serving import Answer, Explain, WhatIf, serve
from shared import Feature, Task
from sklearn.pipeline import Pipeline

import proce

Edges = tuple[tuple[str, str], ...] | None


def fitted(task: Task, model: Pipeline, edges: Edges) -> proce.ProCE:
    """Return ProCE, fitted, with a causal graph or without."""
    # user code begins
    from proce.schema import Action, Categorical, Continuous, Ordinal, Schema

    actions = {"up": "increase", "down": "decrease", "follows": "indirect"}

    def described(feature: Feature) -> Continuous | Ordinal | Categorical:
        action = Action(actions.get(feature.move, feature.move))
        if feature.is_number:
            return Continuous(feature.name, (feature.low, feature.high), feature.step, action)
        kind = Ordinal if feature.kind == "rank" else Categorical
        return kind(feature.name, feature.levels, action)

    schema = Schema([described(feature) for feature in task.features])
    return proce.ProCE(model, schema, edges).fit(task.train)
    # user code ends


def explainer(task: Task, model: Pipeline, method: str) -> Explain:
    """Return ProCE with its defaults, or asked for the bare class as the others are."""
    explainer = fitted(task, model, (task.edges or None) if method == "default" else None)
    bare = 0.5 if "bare" in method else None

    # user code begins
    def explain(row: pd.DataFrame) -> Answer | None:
        result = explainer.explain(row, target=task.target, n=1, min_probability=bare)
        found = result.to_frame()
        if not len(found):
            return None
        answer = Answer.of(found[list(task.train.columns)])
        # user code ends
        changes = result.changes()
        done = tuple(changes["feature"][changes["kind"] != "consequence"])
        met = bool(result.outcomes()["margin_met"].fillna(False).iloc[0])
        margin = explainer.fitted_.settings.margin if met and bare is None else 0.0
        return Answer(answer.values, done, 0.5 + margin)

    return explain


def what_if(task: Task, model: Pipeline, method: str) -> WhatIf:
    """Return what would follow, by ProCE's own equations."""
    explainer = fitted(task, model, task.edges)

    # user code begins
    def follow(row: pd.DataFrame, changes: Mapping[str, Any]) -> Answer:
        return Answer.of(explainer.what_if(row, changes).frame)

    # user code ends
    return follow


if __name__ == "__main__":
    serve("proce", explainer, what_if)
