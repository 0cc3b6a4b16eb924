"""A world, in which methods are compared: a split, a classifier, and rows that it rejects."""

import hashlib
import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

from proce.arrays import Array
from proce.benchmark.plan import Plan
from proce.causal import CausalGraph, StructuralCausalModel
from proce.classifier import Classifier, as_classifier, predict_in_blocks
from proce.datasets import Dataset, load_dataset
from proce.errors import BenchmarkError
from proce.metrics import Judges, Neighbourhood, bootstrap_refits
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


_N_REFITS = 5
_JUDGES_SEED = 10_000  # far from the seeds of the methods, so that no random numbers are shared
_EQUATIONS_SEED = 20_000
_REFITS_SEED = 30_000


@dataclass(frozen=True, eq=False)
class World:
    """A split, its classifier, and the factual rows."""

    data: Dataset  # the data set
    # train, label: the training rows and their labels
    train: pd.DataFrame
    label: "pd.Series[int]"
    # codec, model: the codec, and the model that the methods are given, both fitted on the training
    # rows
    codec: Codec
    model: Model
    # the rows to explain: test rows that the model does not put in the wanted class
    factual: pd.DataFrame
    kind: str  # the name of the classifier: first, second or trees
    seed: int  # the seed of the repetition
    record: dict[str, Any]  # what the folder of the run records of the world

    @classmethod
    def prepare(cls, plan: Plan, dataset: str, classifier: str, repetition: int) -> "World":
        """Split 80/20, train the classifier, and draw factual rows from the rejected test rows."""
        start, seed = time.perf_counter(), plan.seed + repetition
        data = load_dataset(dataset)
        train, test, label, test_label = train_test_split(
            data.frame, data.label, test_size=0.2, random_state=seed
        )
        codec = Codec.fit(data.schema, train)
        model = train_model(codec, train, label, dataset, classifier, seed)
        predicted = predict_in_blocks(as_classifier(model, codec), codec.encode(test))
        rejected = np.flatnonzero(predicted != data.wanted)
        if not len(rejected):
            raise BenchmarkError(f"the {classifier} classifier rejects no test row of {dataset}.")
        drawn = np.random.default_rng(seed).permutation(rejected)[: plan.rows]
        record = {
            "dataset": dataset,
            "classifier": classifier,
            "repetition": repetition,
            "seed": seed,
            "data_sha256": hash_dataset(data),
            "training_rows": len(train),
            "test_accuracy": float((predicted == test_label.to_numpy()).mean()),
            "rejected_rows": len(rejected),
            "factual_rows": [int(label) for label in test.index[drawn]],
            "seconds": time.perf_counter() - start,
        }
        return cls(data, train, label, codec, model, test.iloc[drawn], classifier, seed, record)

    @cached_property
    def encoded(self) -> Array:
        """The training rows in the entries of the codec."""
        return self.codec.encode(self.train)

    @cached_property
    def classifier(self) -> Classifier:
        """The model behind the interface of all models, for rows of the codec."""
        return as_classifier(self.model, self.codec)

    @cached_property
    def predicted(self) -> Array:
        """The classes that the model gives to the training rows."""
        return predict_in_blocks(self.classifier, self.encoded)

    @cached_property
    def judges(self) -> Judges:
        """The auto-encoders of IM1 and IM2, fitted on training rows alone."""
        seed = _JUDGES_SEED + self.seed
        return Judges.fit(self.codec, self.encoded, self.predicted, 2, seed=seed)

    @cached_property
    def neighbourhood(self) -> Neighbourhood:
        """The training rows that the model accepts, for plausibility."""
        return Neighbourhood.fit(self.codec, self.encoded, self.predicted, 2)

    @cached_property
    def refits(self) -> tuple[Model, ...]:
        """Models of the same kind, trained again on resampled rows."""
        labels = self.label.to_numpy()

        def fit(rows: Any, seed: int) -> Model:
            drawn = self.train.iloc[rows]
            return train_model(self.codec, drawn, labels[rows], self.data.name, self.kind, seed)

        return bootstrap_refits(fit, labels, n_refits=_N_REFITS, seed=_REFITS_SEED + self.seed)

    @cached_property
    def equations(self) -> StructuralCausalModel:
        """The equations of the strict %Ccv: the true ones, or else fitted apart from any method."""
        if self.data.truth is not None:
            return self.data.truth.with_codec(self.codec)
        graph = CausalGraph(self.data.graph.edges)
        seed = _EQUATIONS_SEED + self.seed
        return StructuralCausalModel.fit(graph, self.encoded, self.codec, seed=seed)


def hash_dataset(data: Dataset) -> str:
    """Return the SHA-256 of a data set's rows and labels."""
    hashed = pd.util.hash_pandas_object(data.frame.assign(_label=data.label.to_numpy()))
    return hashlib.sha256(hashed.to_numpy().tobytes()).hexdigest()
