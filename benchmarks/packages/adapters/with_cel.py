"""CEL (ce-library): PPCEF, the method of its authors, as its own pipeline runs it.

PPCEF follows gradients, so the model goes over as CEL's logistic regression with the same weights;
what it says of the rows is compared first. PPCEF takes no limits, and explains many rows at once.
Networks, weights and numbers of steps are those of its configuration.
"""

import numpy as np
import pandas as pd
from serving import Answer, ExplainAll, serve
from shared import Task
from sklearn.pipeline import Pipeline


def explainer(task: Task, model: Pipeline, method: str) -> ExplainAll:
    """Return PPCEF, with its density learned."""
    # user code begins
    import torch
    from cel.cf_methods import PPCEF
    from cel.dequantization import GroupDequantizer
    from cel.losses import BinaryDiscLoss
    from cel.models import LogisticRegression, MaskedAutoregressiveFlow
    from cel.pipelines.utils import apply_categorical_discretization
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    columns, decision = model.named_steps["columns"], model.named_steps["decision"]
    n_numbers = len(task.named("number"))
    levels = [feature.levels for feature in task.features if not feature.is_number]
    ends = n_numbers + np.cumsum([len(known) for known in levels])
    groups = [list(range(end - len(known), end)) for end, known in zip(ends, levels, strict=True)]
    train = columns.transform(task.train)
    noise = GroupDequantizer(groups).fit(train)
    classifier = LogisticRegression(train.shape[1], 1)
    with torch.no_grad():
        classifier.linear.weight.copy_(torch.tensor(decision.coef_))
        classifier.linear.bias.copy_(torch.tensor(decision.intercept_))

    def batches(frame: pd.DataFrame, shuffle: bool = False) -> DataLoader:
        inputs = noise.transform(columns.transform(frame))
        classes = torch.tensor(model.predict(frame)).float()
        pairs = TensorDataset(torch.tensor(inputs).float(), classes)
        return DataLoader(pairs, batch_size=1024, shuffle=shuffle)

    density = MaskedAutoregressiveFlow(
        features=train.shape[1],
        hidden_features=16,
        context_features=1,
        num_layers=8,
        num_blocks_per_layer=4,
    )
    held_out = task.train.sample(frac=0.2, random_state=0)
    density.fit(
        batches(task.train.drop(held_out.index), shuffle=True),
        batches(held_out),
        epochs=2_000,
        patience=100,
        lr=0.003,
    )
    likely = torch.quantile(density.predict_log_prob(batches(task.train)), 0.25)
    search = PPCEF(density, classifier, BinaryDiscLoss())

    def explain(rows: pd.DataFrame) -> list[Answer]:
        result = search.explain_dataloader(
            batches(rows),
            epochs=5_000,
            lr=0.001,
            alpha=1_000,
            log_prob_threshold=likely,
            categorical_intervals=groups,
        )
        found = apply_categorical_discretization(groups, result.x_cfs)
        numbers = columns.named_transformers_["numbers"].inverse_transform(found[:, :n_numbers])
        texts = columns.named_transformers_["levels"].inverse_transform(found[:, n_numbers:])
        frame = pd.concat(
            [
                pd.DataFrame(numbers, columns=task.named("number")),
                pd.DataFrame(texts, columns=task.named("rank", "level")),
            ],
            axis=1,
        )
        return [Answer.of(frame.iloc[[position]]) for position in range(len(frame))]

    # user code ends
    chances = classifier.predict_proba(columns.transform(task.rows))[:, task.target]
    assert np.abs(chances - task.probabilities).max() < 1e-5, "the copied model says otherwise"
    return explain


if __name__ == "__main__":
    serve("ce-library", explain_all=explainer)
