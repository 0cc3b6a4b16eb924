"""DoWhy: what would follow from a change, by ``counterfactual_samples`` of ``dowhy.gcm``.

It takes numbers only where noise is to be inferred from a row. So ranks are numbers, and each
level of the others is a column of its own without causes: in the questions asked here nothing
upstream of such a feature moves, so nothing is lost by cutting the arrows into it.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from serving import Answer, WhatIf, serve
from shared import Task
from sklearn.pipeline import Pipeline


def what_if(task: Task, model: Pipeline, method: str) -> WhatIf:
    """Return the consequences by a causal model whose mechanisms DoWhy chooses."""
    # user code begins
    import networkx as nx
    from dowhy import gcm

    ranks = {f.name: f.levels for f in task.features if f.kind == "rank"}
    columns = {
        f.name: [f"{f.name}={level}" for level in f.levels] if f.kind == "level" else [f.name]
        for f in task.features
    }

    def numbers(frame: pd.DataFrame) -> pd.DataFrame:
        coded = frame.assign(**{name: frame[name].map(ranks[name].index) for name in ranks})
        for name in task.named("level"):
            for column in columns[name]:
                coded[column] = frame[name] == column.removeprefix(f"{name}=")
        return coded.drop(columns=task.named("level")).astype(float)

    graph = nx.DiGraph()
    graph.add_nodes_from(column for names in columns.values() for column in names)
    for cause, effect in task.edges:
        if len(columns[effect]) == 1:
            graph.add_edges_from((column, effect) for column in columns[cause])
    causes = gcm.InvertibleStructuralCausalModel(graph)
    gcm.config.disable_progress_bars()
    gcm.util.general.set_random_seed(0)
    train = numbers(task.train)
    gcm.auto.assign_causal_mechanisms(causes, train)
    gcm.fit(causes, train)

    def follow(row: pd.DataFrame, changes: Mapping[str, Any]) -> Answer:
        acts = {name: lambda _, value=value: value for name, value in changes.items()}
        reached = gcm.counterfactual_samples(causes, acts, observed_data=numbers(row))
        return Answer.of(reached[task.named("number")])

    # user code ends
    return follow


if __name__ == "__main__":
    serve("dowhy", what_if=what_if)
