"""What an adapter costs beyond the model's own ``predict_proba``, on 25,600 rows like Adult's.

Run: ``python benchmarks/classifier.py``.

A ratio of 1.20 means that asking through the adapter takes 20% longer than asking the model
with inputs that are ready. The adapter hands a module its rows in blocks, which is quicker
than all at once; the second line says what it costs against a module called in those blocks.
CPU time, one thread, median of interleaved repetitions.
"""

import time
from collections.abc import Callable
from statistics import median

import numpy as np
import pandas as pd
import torch
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from proce.classifier import Classifier, as_classifier, fit_network
from proce.classifier.adapters.from_torch import CPU_BLOCK_ROWS
from proce.schema import Codec, Schema
from proce.training_settings import TrainingSettings

N_ROWS = 25_600
N_REPETITIONS = 41
LEVELS = {
    "workclass": 4,
    "education": 8,
    "marital_status": 5,
    "occupation": 6,
    "race": 2,
    "gender": 2,
}


def adult_like(seed: int = 0) -> tuple[pd.DataFrame, "np.ndarray"]:
    """Return 8 features, 29 columns when one-hot, and a label that depends on them."""
    draw = np.random.default_rng(seed)
    columns = {"age": draw.integers(17, 91, N_ROWS), "hours": draw.integers(1, 100, N_ROWS)}
    for name, n_levels in LEVELS.items():
        levels = np.array([f"{name} {code}" for code in range(n_levels)])
        columns[name] = levels[draw.integers(0, n_levels, N_ROWS)]
    frame = pd.DataFrame(columns)
    score = frame["age"] / 30 + frame["hours"] / 40 + (frame["race"] == "race 1")
    return frame, (score + draw.normal(0, 1, N_ROWS) > 3.5).to_numpy().astype(int)


def compare(adapted: Callable[[], object], direct: Callable[[], object]) -> tuple[float, float]:
    """Return the median CPU milliseconds of both, measured in turns."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(N_REPETITIONS):
        for milliseconds, call in zip(times, (adapted, direct), strict=True):
            start = time.process_time()
            call()
            milliseconds.append(1000 * (time.process_time() - start))
    return median(times[0]), median(times[1])


def main() -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    frame, label = adult_like()
    codec = Codec.fit(Schema.infer(frame), frame)
    rows = np.ascontiguousarray(codec.encode(frame))  # as the search has them: row by row

    trained = fit_network(codec, rows, label, settings=TrainingSettings(n_epochs=1))
    network = as_classifier(trained.module.module, codec)
    module, inputs = trained.module.module, torch.from_numpy(trained.inputs(rows)).float()

    levels = list(LEVELS)
    columns = make_column_transformer(
        (StandardScaler(), ["age", "hours"]), (OneHotEncoder(), levels)
    )
    pipeline = make_pipeline(columns, LogisticRegression()).fit(frame, label)
    adapted = as_classifier(pipeline, codec)

    @torch.inference_mode()
    def at_once() -> torch.Tensor:
        return module(inputs)

    @torch.inference_mode()
    def in_blocks() -> torch.Tensor:
        return torch.cat([module(block) for block in inputs.split(CPU_BLOCK_ROWS)])

    def predict_all(classifier: Classifier) -> Callable[[], np.ndarray]:
        return lambda: classifier.predict_proba(rows)

    def predict_directly() -> np.ndarray:
        return pipeline.predict_proba(frame)

    comparisons = [
        ("torch module", predict_all(network), at_once, "1.20"),
        ("  against the same blocks", predict_all(network), in_blocks, "-"),
        ("TrainedNetwork, folded", predict_all(trained), at_once, "-"),
        ("scikit-learn pipeline", predict_all(adapted), predict_directly, "2.00"),
    ]
    print(f"{N_ROWS:,} rows, CPU ms")
    print("| model | adapted | model alone | ratio | at most |\n|---|---|---|---|---|")
    for name, through_adapter, direct, target in comparisons:
        with_adapter, alone = compare(through_adapter, direct)
        ratio = with_adapter / alone
        print(f"| {name} | {with_adapter:.2f} | {alone:.2f} | {ratio:.2f} | {target} |")


if __name__ == "__main__":
    main()
