"""Models in files of their own: what may be inside is listed, and looked at before it is used."""

import io
import json
import pickle
import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from proce import PersistenceError, as_classifier
from proce.classifier.saved import read_model, write_model
from proce.classifier.skops_files import estimator_bytes, estimator_of, model_sum
from proce.schema import Codec, Schema

DRAW = np.random.default_rng(0)
X = DRAW.random((80, 3))
Y = (X[:, 0] > 0.5).astype(int)
FRAME = pd.DataFrame({"a": X[:, 0], "b": pd.Categorical(DRAW.choice(["u", "v", "w"], 80))})
TREES: dict[str, tuple[Any, Any]] = {
    "histograms": (
        HistGradientBoostingClassifier(
            max_iter=2, min_samples_leaf=2, random_state=0, categorical_features="from_dtype"
        ).fit(FRAME, (FRAME["b"] == "v") ^ (FRAME["a"] > 0.3)),
        FRAME,
    ),
    "forest": (RandomForestClassifier(2, max_depth=3, random_state=0).fit(X, Y), X),
    "boosting": (
        GradientBoostingClassifier(n_estimators=2, max_depth=2).fit(X, np.arange(80) % 3),
        X,
    ),
    "tree": (DecisionTreeClassifier(random_state=0).fit(X, Y), X),
}


def parts_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {each: archive.read(each) for each in archive.namelist()}


def file_of(parts: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize("kind", list(TREES))
def test_trees_come_back_the_same(kind: str) -> None:
    model, rows = TREES[kind]
    loaded = estimator_of(estimator_bytes(model))
    assert np.array_equal(model.predict_proba(rows), loaded.predict_proba(rows))


def test_a_file_is_written_and_read(tmp_path: Path) -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    path = write_model(model, tmp_path / "model.skops")
    assert np.array_equal(read_model(path).predict_proba(X), model.predict_proba(X))
    assert [each.name for each in tmp_path.iterdir()] == ["model.skops"]


@pytest.mark.parametrize(
    ("model", "named"),
    [
        (KNeighborsClassifier().fit(X, Y), r"sklearn.neighbors._kd_tree.KDTree"),
        (
            make_pipeline(FunctionTransformer(pd.eval), LogisticRegression()),
            r"pandas.*eval",
        ),
    ],
)
def test_what_is_not_on_the_list_is_named(model: Any, named: str, tmp_path: Path) -> None:
    with pytest.raises(PersistenceError, match=named):
        write_model(model, tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("where", ["os.system", "builtins.eval", "subprocess.Popen"])
@pytest.mark.parametrize("loader", ["FunctionNode", "TypeNode", "ObjectNode", "OperatorFuncNode"])
def test_a_file_that_wants_to_run_something(where: str, loader: str) -> None:
    """It is refused by what it names, before anything is imported or built."""
    parts = parts_of(estimator_bytes(make_pipeline(FunctionTransformer(), LogisticRegression())))
    text = json.loads(parts["schema.json"])
    module, name = where.rsplit(".", 1)
    func = {"__module__": module, "__class__": name, "__loader__": loader, "__id__": 1}
    text["content"]["content"]["steps"]["content"][0]["content"][1] = func
    with pytest.raises(PersistenceError, match=where):
        estimator_of(file_of({**parts, "schema.json": json.dumps(text).encode()}))


def nodes_changed(content: bytes, change: Any) -> bytes:
    """Return a file in which the first array of a tree's nodes is changed."""
    parts = parts_of(content)
    for name, each in parts.items():
        if name.endswith(".npy"):
            array = np.load(io.BytesIO(each), allow_pickle=False)
            if array.dtype.names and len(array) > 2:
                change(array)
                stream = io.BytesIO()
                np.save(stream, array, allow_pickle=False)
                return file_of({**parts, name: stream.getvalue()})
    raise AssertionError("there is no tree")


def set_field(names: dict[str, str], kind: str, value: int) -> Any:
    def change(array: Any) -> None:
        array[names[kind]][0] = value

    return change


FIELDS = {
    "histograms": {"left": "left", "right": "right", "feature": "feature_idx"},
    "other": {"left": "left_child", "right": "right_child", "feature": "feature"},
}


@pytest.mark.parametrize("kind", list(TREES))
@pytest.mark.parametrize(
    ("field", "value"), [("left", 0), ("right", 2**31), ("left", 10_000), ("feature", 10_000)]
)
def test_a_tree_that_leads_astray(kind: str, field: str, value: int) -> None:
    """scikit-learn would follow it, out of its memory or for ever."""
    names = FIELDS.get(kind, FIELDS["other"])
    content = nodes_changed(estimator_bytes(TREES[kind][0]), set_field(names, field, value))
    with pytest.raises(PersistenceError, match=r"branches lead nowhere|column which is not there"):
        estimator_of(content)


def test_a_tree_that_claims_more_outputs() -> None:
    """scikit-learn would read their numbers of classes from beyond the array."""
    parts = parts_of(estimator_bytes(TREES["tree"][0]))
    text = parts["schema.json"].decode()
    start = text.index('"__reduce__"')
    at = text.index('"content": "1"', start)
    text = text[:at] + '"content": "99999999"' + text[at + len('"content": "1"') :]
    with pytest.raises(PersistenceError, match=r"several outputs|two objects"):
        estimator_of(file_of({**parts, "schema.json": text.encode()}))


def test_a_compressed_file_is_refused() -> None:
    """A few bytes could become gigabytes."""
    parts = parts_of(estimator_bytes(LogisticRegression().fit(X, Y)))
    bomb = {**parts, "more.npy": b"\0" * 10**6}
    with pytest.raises(PersistenceError, match="compressed"):
        estimator_of(file_of(bomb, zipfile.ZIP_DEFLATED))


def test_an_array_that_claims_to_be_vast() -> None:
    parts = parts_of(estimator_bytes(LogisticRegression().fit(X, Y)))
    name = next(each for each in parts if each.endswith(".npy"))
    header = io.BytesIO()
    form = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    np.lib.format.write_array_header_1_0(header, form)
    with pytest.raises(PersistenceError, match="another length than it says"):
        estimator_of(file_of({**parts, name: header.getvalue()}))


def damaged(content: bytes, draw: random.Random) -> bytes:
    if draw.random() < 0.3:
        changed = bytearray(content)
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
        return bytes(changed)
    parts = parts_of(content)
    name = draw.choice(sorted(parts))
    inner = bytearray(parts[name])
    for _ in range(draw.randint(1, 3)):
        inner[draw.randrange(len(inner))] = draw.choice([0, 49, 255, draw.randrange(256)])
    return file_of({**parts, name: bytes(inner)})


def fuzz(kind: str, times: int, seed: int) -> int:
    """Return how many damaged files could still be read."""
    model, rows = TREES[kind]
    content, draw, read = estimator_bytes(model), random.Random(seed), 0
    for _ in range(times):
        try:
            loaded = estimator_of(damaged(content, draw))
        except PersistenceError:
            continue
        read += 1
        try:
            loaded.predict_proba(rows)
        except Exception:  # a model may fail; it may not end the process
            continue
    return read


@pytest.mark.parametrize("kind", list(TREES))
@pytest.mark.filterwarnings("ignore")
def test_damaged_files(kind: str) -> None:
    """Which of the files are read depends on addresses in memory, so several lots are tried."""
    assert any(fuzz(kind, times=40, seed=seed) > 0 for seed in range(5))


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(TREES))
@pytest.mark.filterwarnings("ignore")
def test_many_damaged_files(kind: str) -> None:
    fuzz(kind, times=4000, seed=1)


class TestNames:
    """A file that is not what its name says, or has no name that says anything."""

    @pytest.mark.parametrize("name", ["model.pkl", "model.joblib", "model.pt", "model"])
    def test_other_files(self, name: str, tmp_path: Path) -> None:
        (tmp_path / name).write_bytes(pickle.dumps(print))
        with pytest.raises(PersistenceError, match=r"\.skops \(a scikit-learn estimator\) or"):
            read_model(tmp_path / name)

    @pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x89PNG", pickle.dumps([1])])
    def test_no_skops_file(self, content: bytes, tmp_path: Path) -> None:
        path = tmp_path / "model.skops"
        path.write_bytes(content)
        with pytest.raises(PersistenceError, match=r"model.skops' cannot be used: this is not a"):
            read_model(path)

    def test_no_onnx_file(self, tmp_path: Path) -> None:
        pytest.importorskip("onnxruntime")
        path = tmp_path / "model.onnx"
        path.write_bytes(estimator_bytes(LogisticRegression().fit(X, Y)))
        with pytest.raises(
            PersistenceError, match=r"model.onnx' cannot be used.*not an ONNX model"
        ):
            read_model(path)

    def test_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(PersistenceError, match="No such file"):
            read_model(tmp_path / "model.skops")

    def test_an_estimator_as_onnx(self, tmp_path: Path) -> None:
        with pytest.raises(PersistenceError, match="cannot be written as ONNX"):
            write_model(LogisticRegression().fit(X, Y), tmp_path / "model.onnx")


def test_an_onnx_classifier_goes_to_other_processes(tmp_path: Path) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    pytest.importorskip("onnxruntime")
    model = LogisticRegression().fit(X.astype(np.float32), Y)
    content = skl2onnx.to_onnx(model, X[:1].astype(np.float32)).SerializeToString()
    path = write_model(content, tmp_path / "model.onnx")
    assert read_model(path) == content
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    codec = Codec.fit(Schema.infer(frame), frame)
    classifier = as_classifier(read_model(path), codec, 0.4)
    copy = pickle.loads(pickle.dumps(classifier))  # noqa: S301
    rows = codec.encode(frame)
    assert np.array_equal(copy.predict_proba(rows), classifier.predict_proba(rows))
    assert (copy.classes, copy.threshold) == (classifier.classes, 0.4)


ROWS = np.arange(20.0).reshape(10, 2)
LABEL = [0, 1] * 5


def test_a_model_that_is_written_again_has_the_same_sum(tmp_path: Path) -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(ROWS, LABEL)
    first = write_model(model, tmp_path / "first.skops")
    second = write_model(read_model(first), tmp_path / "second.skops")
    assert first.read_bytes() != second.read_bytes()
    assert model_sum(first) == model_sum(second)


def test_another_model_has_another_sum(tmp_path: Path) -> None:
    paths = [
        write_model(LogisticRegression(C=strength).fit(rows, LABEL), tmp_path / f"{at}.skops")
        for at, (strength, rows) in enumerate([(1, ROWS), (2, ROWS), (1, ROWS**2)])
    ]
    assert len({model_sum(path) for path in paths}) == 3


def test_any_other_file_has_the_sum_of_its_bytes(tmp_path: Path) -> None:
    known = "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"  # printf 1
    for name in ("model.onnx", "damaged.skops"):
        (tmp_path / name).write_text("1")
        assert model_sum(tmp_path / name) == known
