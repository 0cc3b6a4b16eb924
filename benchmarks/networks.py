"""How well the paper's two classifiers predict each data set, beside simpler and stronger ones.

80/20 split by a fixed seed; accuracy and AUC on the 20%, CPU seconds of the training, one
thread. Prints the table of docs/datasets.md. Adult and Law need their files: see PROCE_DATA.
Law's classes are weighted, as everywhere in the benchmarks, which costs accuracy.
"""

import time

import numpy as np
import pandas as pd
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import accuracy_score, roc_auc_score

from proce.classifier import fit_network
from proce.datasets import Dataset, load_dataset
from proce.errors import DownloadError
from proce.schema import Codec

NAMES = ("loan", "simple_bn", "sangiovese", "adult", "law")
BALANCED = {"law"}
SEED = 0
VARIANTS = (("first", "one_hot"), ("second", "one_hot"), ("first", "label"), ("second", "label"))


def boosting(data: Dataset, seen: "np.ndarray", balanced: bool) -> tuple["np.ndarray", float]:
    text = [c for c in data.frame.columns if not pd.api.types.is_numeric_dtype(data.frame[c])]
    frame = data.frame.assign(**{c: data.frame[c].astype("category") for c in text})
    weight = "balanced" if balanced else None
    model = HistGradientBoostingClassifier(random_state=SEED, class_weight=weight)
    start = time.process_time()
    model.fit(frame.iloc[seen], data.label.iloc[seen])
    return model.predict_proba(frame)[:, 1], time.process_time() - start


def network(
    data: Dataset, seen: "np.ndarray", balanced: bool, architecture: str, encoding: str
) -> tuple["np.ndarray", float]:
    codec = Codec.fit(data.schema, data.frame.iloc[seen])
    start = time.process_time()
    model = fit_network(
        codec,
        data.frame.iloc[seen],
        data.label.iloc[seen],
        architecture=architecture,
        encoding=encoding,
        balanced=balanced,
        seed=SEED,
    )
    elapsed = time.process_time() - start
    return model.predict_proba(codec.encode(data.frame))[:, 1].numpy(), elapsed


def show(name: str, model: str, label: "np.ndarray", second: "np.ndarray", seconds: float) -> None:
    accuracy = accuracy_score(label, second >= 0.5)
    auc = roc_auc_score(label, second)
    print(f"| {name} | {model} | {100 * accuracy:.1f} | {auc:.3f} | {seconds:.1f} |")


def main() -> None:
    torch.set_num_threads(1)
    print("| data set | model | accuracy % | AUC | training s |\n|---|---|---:|---:|---:|")
    for name in NAMES:
        try:
            data = load_dataset(name)
        except DownloadError as error:
            print(f"| {name} | not here: {error} | | | |")
            continue
        order = np.random.default_rng(SEED).permutation(len(data.frame))
        seen, unseen = np.split(order, [int(0.8 * len(order))])
        label, balanced = data.label.iloc[unseen].to_numpy(), name in BALANCED
        majority = np.full(len(unseen), float(data.label.iloc[seen].mean() >= 0.5))
        show(name, "majority vote", label, majority, 0.0)
        second, seconds = boosting(data, seen, balanced)
        show(name, "HistGradientBoosting", label, second[unseen], seconds)
        for architecture, encoding in VARIANTS:
            second, seconds = network(data, seen, balanced, architecture, encoding)
            show(name, f"{architecture} classifier, {encoding}", label, second[unseen], seconds)


if __name__ == "__main__":
    main()
