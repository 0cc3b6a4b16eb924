"""PyTorch learns networks and answers for models of PyTorch; nothing else loads it.

It takes more than a second and a few hundred megabytes, in every process that loads it.
"""

import ast
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import proce
from proce import CausalGraph, Codec, ProCE
from proce.classifier import fit_network
from proce.methods.saving.folder import read_manifest, write_manifest

from .worlds import APPLICANT_SCHEMA, TINY, applicants, decisions

SOURCE = Path(proce.__file__).parent
LEARNS = {
    "benchmark.measuring.world",
    "classifier.network_training",
    "cli.console",  # which gives PyTorch one thread where a command learns
    "latent.training",
    "training",
}
ASKS = {"classifier.adapters.from_torch"}
DESCENDS = {
    "methods.published.dice.worker",
}

# Found before any module of a process and of the processes that it starts; notes who asks for it.
WATCH = """
import os, sys, traceback

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            with open(os.environ["TORCH_IMPORTS"], "a") as notes:
                notes.writelines(traceback.format_stack())

sys.meta_path.insert(0, Watch())
"""
EXPLAIN = """
import sys
import pandas as pd
from proce import Explanations, ProCE, evaluate

rows = pd.read_csv(sys.argv[1])
for folder in sys.argv[2:]:
    explainer = ProCE.load(folder)
    result = explainer.explain(rows, target="yes", n=2)
    assert len(result.to_frame()), "a search that finds nothing proves nothing"
    explainer.explain(rows, target="yes", pick="typical")
    explainer.explain(rows, target="yes", vary=["age"])  # which is not enough: it is diagnosed
    explainer.what_if(rows.head(1), {"income": 90.0})
    evaluate(result)
    assert Explanations.from_json(result.to_json())[0].sentences()
    result.save_html("answers.html")
    assert "torch" not in sys.modules, folder
"""
BY_COMMAND = """
import sys
from pathlib import Path
from proce.cli.main import main

for folder in sys.argv[2:]:
    out = Path(folder + ".csv")
    assert main(["explain", folder, sys.argv[1], "--target", "yes", "--out", str(out)]) == 0
    assert len(out.read_text().splitlines()) > 1
"""
IN_PROCESSES = """
import sys
import pandas as pd
from proce import ProCE, explain_parallel

if __name__ == "__main__":
    rows = pd.read_csv(sys.argv[1])
    for folder in sys.argv[2:]:
        result = explain_parallel(ProCE.load(folder), rows, n_jobs=2, target="yes", chunk_rows=2)
        assert len(result.to_frame())
        assert "torch" not in sys.modules, folder
"""
EVERY_MODULE = """
import importlib, sys

for name in sys.argv[1:]:
    importlib.import_module(name)
    assert "torch" not in sys.modules, name
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A file of rows to explain, and the folders of an explainer for each kind of model."""
    folder, frame = tmp_path_factory.mktemp("saved"), applicants(200)
    label = decisions(frame)
    columns = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_exclude="number")),
        (StandardScaler(), make_column_selector(dtype_include="number")),
    )
    pipeline = make_pipeline(columns, LogisticRegression()).fit(frame, label)
    codec = Codec.fit(APPLICANT_SCHEMA, frame)
    network = fit_network(codec, frame, label)
    models = {"pipeline": pipeline, "network": network}
    for kind, model in models.items():
        graph = CausalGraph([("age", "income")])
        explainer = ProCE(model, APPLICANT_SCHEMA, graph, ["cf.age >= x.age"], settings=TINY)
        explainer.fit(frame)
        explainer.explain(frame.head(1), target="yes", pick="typical")  # learns them
        fitted_elsewhere(explainer.save(folder / kind))
    refused = frame[(pipeline.predict(frame) == "no") & (frame["income"] > 40)].head(6)
    refused.to_csv(folder / "rows.csv", index=False)
    return [folder / "rows.csv", *(folder / kind for kind in models)]


@pytest.fixture
def run(tmp_path: Path) -> Any:
    """Return what runs a command and returns who in its processes imported PyTorch, if anyone."""
    (tmp_path / "sitecustomize.py").write_text(WATCH)
    notes = tmp_path / "torch_imports.txt"
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "TORCH_IMPORTS": str(notes)}

    def command(*words: object) -> str:
        ended = subprocess.run(
            list(map(str, words)),
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert ended.returncode == 0, ended.stderr
        return notes.read_text() if notes.exists() else ""

    return command


def test_who_imports_it_is_noticed_in_processes_too(run: Any) -> None:
    inner = "import proce.training"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}], check=True)"
    assert inner.replace("proce.training", "torch") in run(sys.executable, "-c", code)


def test_importing_the_package_and_its_methods_does_not_load_it(run: Any) -> None:
    code = "import sys, proce, proce.methods; assert 'torch' not in sys.modules"
    assert run(sys.executable, "-c", code) == ""


def test_no_module_loads_it_that_does_not_need_it(run: Any) -> None:
    """All are imported but those above, and the benchmark's, whose measures learn networks."""
    own = [name for name in modules() if name.removeprefix("proce.") not in needs_it()]
    names = [name for name in own if not name.startswith("proce.benchmark.measuring.")]
    assert len(names) > 200
    assert run(sys.executable, "-c", EVERY_MODULE, *names) == ""


def test_a_saved_explainer_explains_without_it(saved: list[Path], run: Any) -> None:
    assert run(sys.executable, "-c", EXPLAIN, *saved) == ""


def test_the_command_explains_without_it(saved: list[Path], run: Any) -> None:
    assert run(sys.executable, "-c", BY_COMMAND, *saved) == ""


def test_workers_explain_without_it(saved: list[Path], run: Any, tmp_path: Path) -> None:
    script = tmp_path / "in_processes.py"
    script.write_text(IN_PROCESSES)
    assert run(sys.executable, script, *saved) == ""


def test_only_these_modules_name_it() -> None:
    assert {name for name in modules() if names_torch(name)} == {
        f"proce.{name}" for name in needs_it()
    }


def fitted_elsewhere(folder: Path) -> None:
    """Say of a saved explainer that it was fitted on a device which need not be here."""
    manifest = read_manifest(folder)
    options = manifest.options.model_copy(update={"device": "cuda"})
    write_manifest(folder, manifest.model_copy(update={"options": options}))


def needs_it() -> set[str]:
    return LEARNS | ASKS | DESCENDS


def modules() -> Iterator[str]:
    """Yield the name of every module but those that run when they are imported."""
    for found in pkgutil.walk_packages([str(SOURCE)], "proce."):
        if not found.name.endswith("__main__"):
            yield found.name


def names_torch(module: str) -> bool:
    """Whether a module's text imports PyTorch, or the part of safetensors that does, anywhere."""
    parts = module.split(".")[1:]
    path = SOURCE.joinpath(*parts)
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if any("torch" in name.split(".") for name in names):
            return True
    return False
