"""One model of each kind, the frame it was trained on, and how it is asked directly."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from proce.classifier import Classifier, as_classifier, one_hot
from proce.schema import Codec, Schema

from .. import worlds
from ..worlds import decisions, two_classes

N_ROWS = 240


DECISIONS = decisions(worlds.applicants(N_ROWS))


def applicants(*, missing: bool = True) -> pd.DataFrame:
    """Return applicants, with a flag whose name has a blank, of whom some cells are missing."""
    whole = worlds.applicants(N_ROWS)
    frame = whole[["age", "income", "job"]].assign(**{"owns home": whole["sex"] == "f"})
    if missing:
        frame.loc[5:14, "income"] = np.nan
        frame.loc[10:19, "job"] = None
    return frame


def numbers(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(job=frame["job"].astype("category").cat.codes.astype(float))


def as_category(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(job=frame["job"].astype("category"))


@dataclass
class Case:
    """A model, the frame it was trained on, and how it is asked without the adapter."""

    model: Any
    frame: pd.DataFrame
    ask: Callable[[pd.DataFrame], Any]
    predict: Callable[[pd.DataFrame], Any]
    classes: tuple[Any, ...] = ("no", "yes")
    options: dict[str, Any] = field(default_factory=dict)
    tolerance: float = 1e-12

    def codec(self, frame: Any = None) -> Codec:
        frame = self.frame if frame is None else frame
        return Codec.fit(Schema.infer(frame), frame)

    def adapted(self, **options: Any) -> Classifier:
        return as_classifier(self.model, self.codec(), **self.options | options)

    def fingerprint(self) -> Any:
        if isinstance(self.model, nn.Module):
            state = {k: v.clone().tolist() for k, v in self.model.state_dict().items()}
            return self.model.training, state, [p.requires_grad for p in self.model.parameters()]
        return self.model if callable(self.model) else pickle.dumps(self.model)


def estimator(
    model: Any, frame: pd.DataFrame, fit_on: Any = lambda frame: frame, **kw: Any
) -> Case:
    fit_y = kw.pop("fit_y", DECISIONS)
    model.fit(fit_on(frame), fit_y)
    return Case(
        model,
        frame,
        lambda rows: model.predict_proba(fit_on(rows)),
        lambda rows: np.ravel(model.predict(fit_on(rows))),
        **kw,
    )


def linear_pipeline(*, missing: bool = True) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    scaled = make_pipeline(SimpleImputer(), StandardScaler()) if missing else StandardScaler()
    columns = make_column_transformer(
        (scaled, ["age", "income"]), (OneHotEncoder(handle_unknown="ignore"), ["job"])
    )
    return make_pipeline(columns, LogisticRegression())


def sklearn_pipeline_on_frames() -> Case:
    return estimator(linear_pipeline(), applicants())


def sklearn_trees_on_arrays() -> Case:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(max_iter=10, random_state=0)
    return estimator(model, numbers(applicants()), lambda frame: frame.to_numpy(dtype=float))


def lightgbm_on_text() -> Case:
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=8, verbose=-1, n_jobs=1)
    return estimator(model, applicants(), as_category)


def lightgbm_on_categories() -> Case:
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=8, verbose=-1, n_jobs=1)
    return estimator(model, as_category(applicants()))


def xgboost_on_text() -> Case:
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBClassifier(n_estimators=8, n_jobs=1, enable_categorical=True)
    codes = (DECISIONS == "yes").astype(int)
    return estimator(model, applicants(), as_category, fit_y=codes, classes=(0, 1))


def catboost_on_text() -> Case:
    catboost = pytest.importorskip("catboost")
    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoostClassifier(iterations=8, cat_features=["job"], **quiet)
    frame = applicants()
    frame["job"] = frame["job"].fillna("none")  # CatBoost has no missing categories
    return estimator(model, frame)


def network(n_outputs: int, *last: nn.Module) -> nn.Module:
    generator = torch.Generator().manual_seed(3)
    width = one_hot(Codec.fit(Schema.infer(applicants()), applicants())).width
    layers = [nn.Linear(width, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.ReLU()]
    module = nn.Sequential(*layers, nn.Linear(8, n_outputs), *last)
    for parameter in module.parameters():
        nn.init.normal_(parameter, generator=generator)
    return module.train()


def ask_network(module: nn.Module, frame: pd.DataFrame, answer: Callable[..., Any]) -> Any:
    codec = Codec.fit(Schema.infer(applicants()), applicants())
    asked = pickle.loads(pickle.dumps(module)).eval()  # noqa: S301
    with torch.no_grad():
        inputs = torch.from_numpy(one_hot(codec)(codec.encode(frame)))
        return answer(asked(inputs)).double().numpy()


def torch_one_logit() -> Case:
    module = network(1)

    def ask(frame: pd.DataFrame) -> Any:
        second = ask_network(module, frame, torch.sigmoid)
        return np.concatenate([1 - second, second], axis=1)

    return Case(module, applicants(), ask, lambda f: ask(f).argmax(1), (0, 1), tolerance=1e-6)


def torch_three_probabilities() -> Case:
    module, names = network(3, nn.Softmax(dim=-1)), ("bad", "fair", "good")

    def ask(frame: pd.DataFrame) -> Any:
        return ask_network(module, frame, lambda answer: answer)

    def predict(frame: pd.DataFrame) -> Any:
        return np.array(names)[ask(frame).argmax(1)]

    return Case(module, applicants(), ask, predict, names, {"classes": names}, tolerance=1e-6)


def onnx_case(
    model: Any, frame: pd.DataFrame, inputs: list[Any], feed: Any, **options: Any
) -> Case:
    onnxruntime = pytest.importorskip("onnxruntime")
    skl2onnx = pytest.importorskip("skl2onnx")
    content = skl2onnx.convert_sklearn(model, initial_types=inputs, options=options)
    content = content.SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])

    def ask(rows: pd.DataFrame) -> Any:
        answer = session.run(None, feed(rows))[1]
        return answer if "zipmap" in options else [[row["no"], row["yes"]] for row in answer]

    return Case(
        content,
        frame,
        ask,
        lambda rows: session.run(None, feed(rows))[0],
        options={"classes": ["no", "yes"]},
        tolerance=1e-6,
    )


def onnx_on_a_tensor() -> Case:
    from skl2onnx.common.data_types import FloatTensorType
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    frame = numbers(applicants()).drop(columns="owns home")
    model = make_pipeline(SimpleImputer(), LogisticRegression(max_iter=1000))
    model.fit(frame.to_numpy(dtype=np.float32), DECISIONS)

    def feed(rows: pd.DataFrame) -> Any:
        return {"X": rows.to_numpy(dtype=np.float32)}

    return onnx_case(model, frame, [("X", FloatTensorType([None, 3]))], feed, zipmap=False)


def onnx_on_named_columns() -> Case:
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType

    frame = applicants(missing=False)[["age", "income", "job"]]
    model = linear_pipeline(missing=False).fit(frame, DECISIONS)
    types = {"age": Int64TensorType, "income": FloatTensorType, "job": StringTensorType}
    dtypes = {"age": np.int64, "income": np.float32, "job": object}

    def feed(rows: pd.DataFrame) -> Any:
        return {name: rows[[name]].to_numpy(dtype=dtype) for name, dtype in dtypes.items()}

    return onnx_case(model, frame, [(n, t([None, 1])) for n, t in types.items()], feed)


def function_of_a_frame() -> Case:
    def second(frame: Any) -> Any:
        income = np.asarray(frame["income"], dtype=float)
        return 1 / (1 + np.exp(-np.nan_to_num(income - 60, nan=-3) / 8))

    def ask(frame: pd.DataFrame) -> Any:
        return two_classes(second(frame))

    return Case(second, applicants(), ask, lambda frame: ask(frame).argmax(1), (0, 1))


CASES = [
    sklearn_pipeline_on_frames,
    sklearn_trees_on_arrays,
    lightgbm_on_text,
    lightgbm_on_categories,
    xgboost_on_text,
    catboost_on_text,
    torch_one_logit,
    torch_three_probabilities,
    onnx_on_a_tensor,
    onnx_on_named_columns,
    function_of_a_frame,
]
