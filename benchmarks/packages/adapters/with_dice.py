"""DiCE (dice-ml), by its model-agnostic methods, with limits as its documentation gives them."""

from typing import Any

import pandas as pd
from serving import Answer, Explain, serve
from shared import Feature, Task
from sklearn.pipeline import Pipeline


def explainer(task: Task, model: Pipeline, method: str) -> Explain:
    """Return DiCE with a method of its own."""
    # user code begins
    import dice_ml

    def permitted(feature: Feature, value: Any) -> list[Any]:
        if feature.is_number:
            low = value if feature.move == "up" else feature.low
            high = value if feature.move == "down" else feature.high
            return [min(low, value), max(high, value)]
        levels, at = list(feature.levels), feature.levels.index(value)
        levels = levels[at:] if feature.move == "up" else levels
        return levels[: at + 1] if feature.move == "down" else levels

    data = dice_ml.Data(
        dataframe=task.train.assign(label=task.label),
        continuous_features=task.named("number"),
        outcome_name="label",
    )
    dice = dice_ml.Dice(data, dice_ml.Model(model=model, backend="sklearn"), method=method)
    varying = [feature for feature in task.features if feature.can_be_set]

    def explain(row: pd.DataFrame) -> Answer:
        result = dice.generate_counterfactuals(
            row,
            total_CFs=1,
            desired_class=task.target,
            features_to_vary=[feature.name for feature in varying],
            permitted_range={f.name: permitted(f, row[f.name].iloc[0]) for f in varying},
        )
        return Answer.of(result.cf_examples_list[0].final_cfs_df[task.train.columns])

    # user code ends
    return explain


if __name__ == "__main__":
    serve("dice-ml", explainer)
