"""NICE (NICEx), as its documentation shows it. It takes no limits."""

import numpy as np
import pandas as pd
from serving import Answer, Explain, serve
from shared import Task
from sklearn.pipeline import Pipeline


def explainer(task: Task, model: Pipeline, method: str) -> Explain:
    """Return NICE with the reward that is named."""
    # user code begins
    from nice import NICE

    names = list(task.train.columns)
    levels = [names.index(name) for name in task.named("rank", "level")]
    nice = NICE(
        predict_fn=lambda rows: model.predict_proba(pd.DataFrame(rows, columns=names)),
        X_train=task.train.to_numpy(dtype=object),
        y_train=task.label,
        cat_feat=levels,
        optimization=method,
    )

    def explain(row: pd.DataFrame) -> Answer:
        found = nice.explain(row.to_numpy(dtype=object), target_class=[task.target])
        return Answer(dict(zip(names, np.asarray(found)[0], strict=True)))

    # user code ends
    return explain


if __name__ == "__main__":
    serve("NICEx", explainer)
