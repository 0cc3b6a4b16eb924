"""The classifiers that a run explains: the paper's two networks, and boosted trees."""

from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier

from proce.schema import Codec

Model = Any  # a TrainedNetwork, or a HistGradientBoostingClassifier, which has no types


def train_model(codec: Codec, train: Any, label: Any, dataset: str, kind: Any, seed: int) -> Model:
    """Train a classifier on a frame of rows."""
    # Nine in ten pass there: trained on unweighted rows, a model would reject nearly nobody.
    balanced = dataset == "law"
    if kind == "trees":
        trees = HistGradientBoostingClassifier(
            categorical_features="from_dtype",
            class_weight="balanced" if balanced else None,
            random_state=seed,
        )
        return trees.fit(train, label)
    import torch

    from proce.classifier import fit_network

    torch.set_num_threads(1)
    return fit_network(codec, train, label, architecture=kind, balanced=balanced, seed=seed)
