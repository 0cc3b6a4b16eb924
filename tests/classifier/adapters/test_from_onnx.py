"""ONNX models: what they are fed, which output is read, what is refused."""

import sys

import numpy as np
import pytest
import torch

from proce.classifier import as_classifier, label, one_hot
from proce.errors import MissingExtraError, ModelError, ModelInterfaceError, ModelOutputError
from proce.schema import Codec, Schema

from ...worlds import JOBS, applicants

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

DRAW = np.random.default_rng(0)
MIXED = applicants(50)[["age", "income", "job"]]
NUMBERS = MIXED[["age", "income"]]
CODEC = Codec.fit(Schema.infer(NUMBERS), NUMBERS)
MIXED_CODEC = Codec.fit(Schema.infer(MIXED), MIXED)
FLOAT = TensorProto.FLOAT


def linear(weights, last=None, batch=None, name="x", extra=()):
    """Return the bytes of a model that multiplies, and maybe squashes, its input."""
    weights = numpy_helper.from_array(np.array(weights, dtype=np.float32), "w")
    nodes = [helper.make_node("MatMul", [name, "w"], ["z" if last else "y"])]
    if last:
        nodes.append(helper.make_node(last, ["z"], ["y"]))
    n_in, n_out = weights.dims
    graph = helper.make_graph(
        [*nodes, *(node for node, _ in extra)],
        "g",
        [helper.make_tensor_value_info(name, FLOAT, [batch, n_in])],
        [
            helper.make_tensor_value_info("y", FLOAT, [batch, n_out]),
            *(value for _, value in extra),
        ],
        [weights],
    )
    return saved(graph)


def saved(graph):
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString()


def scores(inputs, weights):
    return np.asarray(inputs, dtype=np.float32) @ np.array(weights, dtype=np.float32)


def test_a_tensor_of_columns_and_a_logit(tmp_path):
    weights = [[-0.02], [0.03]]
    path = tmp_path / "model.onnx"
    path.write_bytes(linear(weights))
    expected = 1 / (1 + np.exp(-scores(NUMBERS, weights)))
    for model in (path, str(path), path.read_bytes()):
        answer = as_classifier(model, CODEC).predict_proba(CODEC.encode(NUMBERS))
        assert answer[:, [1]] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", ["one_hot", "label"])
def test_an_encoding_and_probabilities_of_three_classes(name):
    encode = {"one_hot": one_hot, "label": label}[name](MIXED_CODEC)
    weights = DRAW.normal(size=(encode.width, 3))
    rows = MIXED_CODEC.encode(MIXED)
    classifier = as_classifier(linear(weights, "Softmax"), MIXED_CODEC, encoding=name)
    expected = torch.tensor(scores(encode(rows), weights)).softmax(-1)
    assert classifier.predict_proba(rows) == pytest.approx(expected.numpy(), abs=1e-6)
    assert classifier.classes == (0, 1, 2)


def test_a_function_encodes():
    classifier = as_classifier(
        linear([[0.1]], "Sigmoid"),
        MIXED_CODEC,
        encoding=lambda frame: (frame[["job"]] == "nurse").to_numpy(dtype=np.float32),
        classes=["no", "yes"],
    )
    answer = classifier.predict_proba(MIXED_CODEC.encode(MIXED))[:, 1]
    assert set(answer.round(4).tolist()) == {0.5, 0.525}


def named_text(column="job"):
    """Return a model whose text input is given back as a probability of two classes."""
    nodes = [
        helper.make_node(
            "LabelEncoder",
            [column],
            ["p"],
            domain="ai.onnx.ml",
            keys_strings=JOBS,
            values_floats=[0.2, 0.2, 0.9],
        ),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(column, TensorProto.STRING, [None, 1])],
        [helper.make_tensor_value_info("p", FLOAT, [None, 1])],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 2)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def test_a_single_named_column_of_text_cannot_be_missing():
    classifier = as_classifier(named_text(), MIXED_CODEC)
    rows = MIXED_CODEC.encode(MIXED)
    expected = np.where(MIXED["job"] == "nurse", 0.9, 0.2)
    assert classifier.predict_proba(rows)[:, 1] == pytest.approx(expected)
    rows[3, 2] = -1
    with pytest.raises(ModelError, match=r"'job' is missing in row 3.*cannot be missing"):
        classifier.predict_proba(rows)


def with_labels(values):
    """Return a model of two inputs' columns that also answers with labels of its own."""
    constant = helper.make_node("Constant", [], ["labels"], value_strings=[values] * 256)
    return linear(
        [[-0.02, 0.02], [-0.03, 0.03]],
        "Softmax",
        extra=[(constant, helper.make_tensor_value_info("labels", TensorProto.STRING, [256]))],
    )


def test_the_labels_of_the_model_are_held_against_the_classes():
    model = with_labels("yes")  # the second column is the larger on every row
    assert as_classifier(model, CODEC, classes=["no", "yes"]).classes == ("no", "yes")
    with pytest.raises(ModelOutputError, match="answers with the label 'yes', which is not among"):
        as_classifier(model, CODEC)
    with pytest.raises(ModelOutputError, match="'yes', 'no' is not that of its columns"):
        as_classifier(model, CODEC, classes=["yes", "no"])


def test_classes_of_a_map_output_are_its_keys():
    skl2onnx = pytest.importorskip("skl2onnx")
    from skl2onnx.common.data_types import FloatTensorType
    from sklearn.linear_model import LogisticRegression

    labels = np.where(NUMBERS["income"] > 60, "yes", "no")
    model = LogisticRegression().fit(NUMBERS.to_numpy(dtype=np.float32), labels)
    content = skl2onnx.to_onnx(model, initial_types=[("x", FloatTensorType([None, 2]))])
    content = content.SerializeToString()
    assert as_classifier(content, CODEC).classes == ("no", "yes")
    swapped = as_classifier(content, CODEC, classes=["yes", "no"])
    first = as_classifier(content, CODEC).predict_proba(CODEC.encode(NUMBERS))
    assert np.array_equal(swapped.predict_proba(CODEC.encode(NUMBERS)), first[:, ::-1])
    with pytest.raises(ModelOutputError, match="gives probabilities for 'no', 'yes'; expected"):
        as_classifier(content, CODEC, classes=[0, 1])


def test_weights_in_other_files_are_not_read(tmp_path, monkeypatch):
    model = onnx.load_from_string(linear([[1.0], [1.0]]))
    path = tmp_path / "model.onnx"
    onnx.save(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    monkeypatch.chdir(tmp_path)
    for given in (path, path.read_bytes()):
        with pytest.raises(ModelError, match="keeps weights in other files, which are not read"):
            as_classifier(given, CODEC)


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x08\x08"])
def test_what_is_not_onnx_is_refused(content, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="this is not an ONNX model that onnxruntime can run"):
        as_classifier(path, CODEC)


def test_files_of_other_kinds_or_out_of_reach_are_refused(tmp_path):
    with pytest.raises(ModelInterfaceError, match=r"name ending in \.onnx; got 'model\.pkl'"):
        as_classifier("model.pkl", CODEC)
    with pytest.raises(ModelError, match="cannot be read: No such file"):
        as_classifier(tmp_path / "absent.onnx", CODEC)


def test_without_onnxruntime_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'proce\[onnx\]'"):
        as_classifier(linear([[1.0], [1.0]]), CODEC)


@pytest.mark.parametrize(
    ("model", "codec", "options", "message"),
    [
        (linear([[1.0]] * 7), CODEC, {}, "takes 7 columns; the rows have 2, or 2 one-hot"),
        (linear([[1.0]] * 3), MIXED_CODEC, {}, "column 'job' is text. Say with encoding="),
        (linear([[1.0]] * 2, batch=1), CODEC, {}, "batches of exactly 1.*dynamic batch"),
        (named_text("Job"), MIXED_CODEC, {}, "takes 1 columns; the rows have 3"),
        (linear([[1.0]] * 5), CODEC, {"encoding": "one_hot"}, "ONNX model failed on 256 rows"),
    ],
)
def test_inputs_that_cannot_be_fed_are_refused(model, codec, options, message):
    with pytest.raises(ModelError, match=message):
        as_classifier(model, codec, **options)


def two_inputs(names, outputs=("y",)):
    """Return a model that adds two columns, and gives the sum once per output."""
    graph = helper.make_graph(
        [helper.make_node("Add", list(names), [each]) for each in outputs],
        "g",
        [helper.make_tensor_value_info(name, FLOAT, [None, 1]) for name in names],
        [helper.make_tensor_value_info(each, FLOAT, [None, 1]) for each in outputs],
    )
    return saved(graph)


def test_one_input_per_column_is_matched_by_name():
    answer = as_classifier(two_inputs(["income", "age"]), CODEC).predict_proba(
        CODEC.encode(NUMBERS)
    )
    expected = 1 / (1 + np.exp(-NUMBERS.sum(axis=1).to_numpy()))
    assert answer[:, 1] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (two_inputs(["age", "salary"]), {}, "'salary' is not a column of the rows"),
        (two_inputs(["age", "income"]), {"encoding": "label"}, "encoding= is for a model of one"),
        (two_inputs(["age", "income"], ["a", "b"]), {}, "outputs 'a', 'b'; expected one with"),
    ],
)
def test_other_inputs_and_outputs_are_refused(model, options, message):
    with pytest.raises(ModelError, match=message):
        as_classifier(model, CODEC, **options)
