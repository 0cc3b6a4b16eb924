"""A saved explainer gives the same rows on every processor and with any number of threads.

Numba compiles for the processor that it runs on, unless an environment variable names another one.
The results are compared bit for bit. What a model that multiplies matrices says depends on the
processor by itself, so the models here are our own network and a forest.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from proce import CausalGraph, Codec, ProCE
from proce.classifier import fit_network

from .worlds import APPLICANT_SCHEMA, SETTINGS, applicants, decisions

GENERIC = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
FOUR_THREADS = dict.fromkeys(ONE_THREAD, "4")

# Prints, for each computation, a hash of the bytes of its results on numbers that are drawn.
KERNELS = """
import hashlib, json
import numpy as np
from proce.compiled import elementary
from proce.compiled.cells import CellKind
from proce.compiled.row_network import CellInput, Layer, RowNetwork
from proce.search import Genome, NSGA2Settings, RowStreams
from proce.search.genome import GeneKind
from proce.search.survival import Candidates, survive
from proce.search.genome import offspring
from proce.compiled.streams import Purpose

def sum_of(*arrays):
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()

def drawn(*shape, seed=0):
    count = int(np.prod(shape))
    return RowStreams.of(seed, np.arange(1)).uniforms(0, Purpose.START, count).reshape(shape)

def weights(*shape, seed):
    return (4 * drawn(*shape, seed=seed) - 2).astype(np.float32)

shares, wide = drawn(20_000), 80 * drawn(20_000, seed=1) - 40
sums = {
    "exp": sum_of(elementary.exponentials(wide)),
    "log": sum_of(elementary.logarithms(shares)),
    "pow": sum_of(elementary.powers(shares, wide / 10)),
    "shares": sum_of(elementary.shares_below(wide / 4)),
    "quantiles": sum_of(elementary.quantiles(shares)),
    "softmax": sum_of(elementary.softmaxes(wide.reshape(-1, 5))),
}

inputs = [CellInput(CellKind.NUMBER, weights(1, 24, seed=f), None) for f in range(9)]
inputs.append(CellInput(CellKind.LEVEL, weights(4, 24, seed=9), None))
layers = [Layer(weights(13, 24, seed=10), weights(13, seed=11), True)]
layers.append(Layer(weights(3, 13, seed=12), weights(3, seed=13)))
network = RowNetwork.of(inputs, weights(24, seed=14), True, layers)
rows = drawn(1_000, 10, seed=15)
rows[:, 9] = np.floor(4 * rows[:, 9])
sums["network"] = sum_of(network.class_probabilities(rows))

kind = np.array([GeneKind.REAL] * 3 + [GeneKind.GRID] * 3 + [GeneKind.LEVEL] * 2)
upper = np.tile(np.where(kind == GeneKind.LEVEL, 4.0, 1.0), (6, 1))
anchor, step = np.floor(4 * drawn(6, 8, seed=16)) / 4 * upper, np.full(8, 0.05)
genome = Genome.of(np.zeros((6, 8)), upper, anchor, kind=kind, step=step)
streams = RowStreams.of(7, np.arange(6))
genes = genome.repair(drawn(6, 40, 8, seed=17) * upper[:, None])
for generation in range(10):
    genes = offspring(genes, genome, streams, generation, 40, NSGA2Settings())
sums["offspring"] = sum_of(genes)

for crowding in ("deb", "paper"):
    groups = [
        Candidates(own, drawn(6, 40, 3, seed=seed), np.maximum(drawn(6, 40, seed=seed) - 0.5, 0))
        for seed, own in ((18, genes), (19, genome.repair(drawn(6, 40, 8, seed=20))))
    ]
    sums[crowding] = sum_of(*survive(groups, 40, crowding))
print(json.dumps(sums))
"""
EXPLAIN = """
import json, sys
import pandas as pd
from proce import ProCE

def untimed(content):
    if isinstance(content, dict):
        return {name: untimed(part) for name, part in content.items() if "seconds" not in name}
    return [untimed(part) for part in content] if isinstance(content, list) else content

told = {}
for folder in sys.argv[2:]:
    explainer, rows = ProCE.load(folder), pd.read_csv(sys.argv[1])
    for pick in ("closest", "typical"):
        result = explainer.explain(rows, target="yes", n=2, pick=pick)
        cells = [[repr(cell) for cell in row] for row in result.to_frame().to_numpy().tolist()]
        sentences = [sentence for own in result for sentence in own.sentences()]
        whole = untimed(json.loads(result.to_json(view="auditor")))
        told[folder + pick] = {"rows": cells, "json": whole, "told": sentences}
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A file of rows to explain, and the folders of an explainer for each model."""
    folder, frame = tmp_path_factory.mktemp("saved"), applicants(200)
    label = decisions(frame)
    columns = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    forest = RandomForestClassifier(20, min_samples_leaf=4, random_state=0)
    codec = Codec.fit(APPLICANT_SCHEMA, frame)
    models = {
        "network": fit_network(codec, frame, label),
        "forest": make_pipeline(columns, forest).fit(frame, label),
    }
    for kind, model in models.items():
        graph = CausalGraph([("age", "income"), ("school", "job")])
        rules = ["cf.age >= x.age", "cf.income <= 2 * x.income"]
        explainer = ProCE(model, APPLICANT_SCHEMA, graph, rules, settings=SETTINGS)
        explainer.fit(frame)
        explainer.explain(frame.head(1), target="yes", pick="typical")  # learns them
        explainer.save(folder / kind)
    refused = frame[models["forest"].predict(frame) == "no"].head(6)
    refused.to_csv(folder / "rows.csv", index=False)
    return [folder / "rows.csv", *(folder / kind for kind in models)]


def printed(script: str, variables: dict[str, str], *arguments: Path) -> Any:
    """Return what a script prints in a process whose environment has some variables more."""
    ended = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_the_kernels_compute_the_same_bits_for_a_generic_processor(tmp_path: Path) -> None:
    generic = printed(KERNELS, GENERIC | {"NUMBA_CACHE_DIR": str(tmp_path)})
    assert len(generic) == 10
    assert generic == printed(KERNELS, {})


def test_threads_change_nothing(saved: list[Path]) -> None:
    alone = printed(EXPLAIN, ONE_THREAD, *saved)
    assert all(told["rows"] for told in alone.values()), (
        "a search that finds nothing proves nothing"
    )
    assert printed(EXPLAIN, FOUR_THREADS, *saved) == alone


@pytest.mark.slow
def test_an_explainer_says_the_same_on_a_generic_processor(
    saved: list[Path], tmp_path: Path
) -> None:
    """Rows, probabilities and sentences; all kernels are compiled once more."""
    generic = printed(EXPLAIN, GENERIC | {"NUMBA_CACHE_DIR": str(tmp_path)}, *saved)
    assert generic == printed(EXPLAIN, {}, *saved)
