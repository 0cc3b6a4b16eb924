"""The process in which DiCE runs; it asks the caller's process for the model's probabilities.

For DiCE the features are called ``x000``, ``x001``, …, their levels ``000``, ``001``, …, and there
are two classes, the second of which is the wanted one. So its names never collide, and a table of
its values is a table of numbers.
"""

import copy
import logging
import random
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from os import devnull
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from proce.arrays import Array, Floats, Ints
from proce.classifier import Classifier, InputEncoding, TrainedNetwork
from proce.classifier.classifier import deciding_chance
from proce.errors import ModelInterfaceError
from proce.processes.worker import Progress
from proce.schema import Codec

if TYPE_CHECKING:
    from proce.classifier.adapters.from_torch import TorchClassifier

Scores = TypeVar("Scores", bound=Any)

_NOTHING_FOUND = "No counterfactuals found"  # how DiCE's message begins where it finds none
_MODULES = {
    "random": ("explainer_interfaces.dice_random", "model_interfaces.base_model"),
    "genetic": ("explainer_interfaces.dice_genetic", "model_interfaces.base_model"),
    "gradient": ("explainer_interfaces.dice_pytorch", "model_interfaces.pytorch_model"),
}


@dataclass(frozen=True, eq=False)
class DiceQuery:
    """One row for DiCE to explain."""

    values: dict[str, Any]  # by feature, none of them missing
    own: Array  # (f,), the same row in our entries, with missing cells
    target: int
    n: int
    vary: list[str]  # the features that may change
    ranges: dict[str, list[Any]]  # where to, by name: [low, high], or the permitted levels
    seed: int  # of everything random
    max_evaluations: int  # rows that DiCE may ask its network about


@dataclass(frozen=True, eq=False)
class DiceAnswer:
    """What DiCE found for one row."""

    rows: Floats  # (n, f), the counterfactuals in DiCE's values
    note: str = ""  # what DiCE raised, in words
    evaluations: int = 0  # rows it asked its own copy of a network about


class EvaluationsSpent(Exception):  # noqa: N818 - an outcome that has to pass through DiCE
    """The row has no evaluations left."""


@dataclass(eq=False)
class EvaluationMeter:
    """Counts the rows that a network is asked about, as a hook before its forward step."""

    limit: int
    used: int = 0

    def __call__(self, module: Any, inputs: tuple[Any]) -> None:
        """Count one row, or many; raise where that would pass the limit."""
        n_rows = 1 if inputs[0].ndim == 1 else len(inputs[0])
        if self.used + n_rows > self.limit:
            self.used = self.limit
            raise EvaluationsSpent
        self.used += n_rows


def score_of(wanted: Scores, rival: Scores, target: int, threshold: float | None) -> Scores:
    """Return how far on the target's side rows are, above one half where they are decided for it.

    DiCE knows two classes between which one half decides, and its losses descend on that
    probability: this is it where one half decides, and rises with it everywhere else, too.

    Shapes: wanted, rival ``(n,)``.
    """
    if threshold is None:
        return wanted / (wanted + rival)
    needed = deciding_chance(target, threshold)
    return (wanted.clip(max=needed) / needed + (wanted - needed).clip(min=0) / (1 - needed)) / 2


@dataclass(frozen=True, eq=False)
class DiceNetwork:
    """A network as DiCE's gradient method asks it: with rows of DiCE's own encoding."""

    # DiCE's input has a column per number, on the range of its data, then a column per level. Ours
    # is a linear function of it: numbers on another range, levels side by side or as codes.

    # classifier, encoding: the network of PyTorch, and the encoding of its input
    classifier: "TorchClassifier"
    encoding: InputEncoding
    # matrix, shift: (w, v) and (v,): DiCE's input (n, w) times the matrix plus the shift is ours
    matrix: Array
    shift: Array

    @classmethod
    def of(
        cls, classifier: Classifier, codec: Codec, low: Floats, high: Floats, codes: list[list[int]]
    ) -> "DiceNetwork":
        """Return the network of a classifier; refuse a classifier without a gradient."""
        # Shapes: low, high ``(f,)``.
        from proce.classifier.adapters.from_torch import TorchClassifier

        network = classifier.module if isinstance(classifier, TrainedNetwork) else classifier
        if not isinstance(network, TorchClassifier):
            raise ModelInterfaceError(
                "DiCE's gradient method needs a network: a torch module, or what fit_network"
                f" returns. A {type(classifier).__name__} has no gradient; use method='genetic'"
                " or 'random'."
            )
        encoding = network.encoding
        if not isinstance(encoding, InputEncoding):
            raise ModelInterfaceError(
                "DiCE's gradient method needs a network whose input is encoded as 'one_hot' or"
                " 'label', since a gradient does not pass through a function of a frame; use"
                " method='genetic' or 'random'."
            )
        numbers = np.flatnonzero(codec.is_number).tolist()
        levels = [(position, code) for position, seen in enumerate(codes) for code in seen]
        columns = [(position, None) for position in numbers] + levels  # of DiCE's input
        matrix = np.zeros((len(columns), encoding.width), np.float32)
        shift = np.zeros(encoding.width, np.float32)
        source, low, high = encoding.source.tolist(), codec.to_unit(low), codec.to_unit(high)
        for row, (position, code) in enumerate(columns):
            first = source.index(position)  # the feature's first column of our input
            if code is None:
                matrix[row, first] = high[position] - low[position]
                shift[first] = low[position]
            elif encoding.n_levels[position]:
                matrix[row, first + code] = 1
            else:
                matrix[row, first] = code
        return cls(network, encoding, matrix, shift)

    def of_row(self, own: Floats, target: int, vary: Sequence[str], names: Sequence[str]) -> Any:
        """Return the module for one row ``(f,)``; features that do not vary stay as in the row."""
        # It scores how far rows are on the target's side: above one half if decided for it.
        import torch

        varies = np.array([name in vary for name in names])[self.encoding.source]
        held = self.classifier.inputs(own[None])[0].astype(np.float32)
        matrix = torch.from_numpy(self.matrix * varies)
        shift = torch.from_numpy(np.where(varies, self.shift, held))
        classifier = self.classifier

        class ScoringModule(torch.nn.Module):
            def forward(self, rows: Any) -> Any:
                """Return ``(1,)`` for one row ``(w,)``, ``(n, 1)`` for many ``(n, w)``."""
                chances = classifier.probabilities(
                    rows.reshape(-1, rows.shape[-1]) @ matrix + shift
                )
                others = [label for label in range(chances.shape[1]) if label != target]
                wanted, rival = chances[:, target], chances[:, others].amax(1)
                score = score_of(wanted, rival, target, classifier.threshold)[:, None]
                return score[0] if rows.dim() == 1 else score

        return ScoringModule()


ScoreFunction = Callable[[Floats | None], Floats]
ExplainerFactory = Callable[["DiceSetup", DiceQuery, ScoreFunction, EvaluationMeter], Any]


def make_explainer(
    setup: "DiceSetup", query: DiceQuery, score: ScoreFunction, meter: EvaluationMeter
) -> Any:
    """Return DiCE's explainer for one row; a new one each time, since it keeps a state."""
    import dice_ml

    data = copy.copy(setup.data)  # the gradient method writes the row's ranges into it
    if setup.network is None:
        model = dice_ml.Model(model=ModelForDice(score, setup.names), backend="sklearn")
        return dice_ml.Dice(data, model, method=setup.method)
    module = setup.network.of_row(query.own, query.target, query.vary, setup.names)
    module.register_forward_pre_hook(meter)
    model = dice_ml.Model(model=module, backend="PYT", func="ohe-min-max")
    return dice_ml.Dice(data, model, method="gradient")


@dataclass(frozen=True, eq=False)
class DiceSetup:
    """What DiCE needs for any row."""

    data: Any  # DiCE's own record of the training rows
    method: str  # random, genetic or gradient
    options: dict[str, Any]  # of DiCE's search
    network: DiceNetwork | None = None  # that gradient descends on
    make_explainer: ExplainerFactory = make_explainer

    @property
    def names(self) -> list[str]:
        """The features in their order, as DiCE knows them."""
        return list(self.data.feature_names)


@dataclass(eq=False)
class ModelForDice:
    """The model as DiCE asks a classifier of scikit-learn: with frames."""

    score: ScoreFunction
    names: list[str]
    classes_: Ints = field(default_factory=lambda: np.array([0, 1]))

    def predict_proba(self, frame: pd.DataFrame) -> Floats:
        """Return the probabilities of not reaching and of reaching the wanted class."""
        score = self.score(values_of(frame, self.names))
        return np.stack([1 - score, score], axis=1)

    def predict(self, frame: pd.DataFrame) -> Any:
        """Return the likelier class."""
        return self.predict_proba(frame).argmax(1)


def load(method: str) -> None:
    """Import DiCE, and what it would import later."""
    for module in modules_of(method)[1:]:
        import_module(module)


def modules_of(method: str) -> tuple[str, ...]:
    """Return what a process of DiCE needs: this module, and those of DiCE."""
    return (__name__, *(f"dice_ml.{module}" for module in _MODULES[method]))


class DiceWorker:
    """What DiCE's process holds: what it needs for any row, and its trees of the training rows."""

    def __init__(self, setup: DiceSetup) -> None:
        self.setup = setup
        self.trees: dict[int, Any] = {}  # by target
        _silence_process(uses_torch=setup.network is not None)

    def answer(self, query: DiceQuery, progress: Progress) -> DiceAnswer:
        """Put one query to DiCE; whatever DiCE raises becomes part of the answer."""
        meter = EvaluationMeter(query.max_evaluations)
        rows, note = np.empty((0, len(self.setup.names))), ""
        try:
            rows = _counterfactuals(self.setup, query, progress, self.trees, meter)
        except EvaluationsSpent:
            pass
        except Exception as error:
            if not str(error).startswith(_NOTHING_FOUND):
                note = f"DiCE failed: {type(error).__name__}: {error}"
        return DiceAnswer(rows, note, meter.used)


def values_of(frame: pd.DataFrame, names: list[str]) -> Floats:
    """Return a frame of DiCE's as numbers ``(n, f)``; levels are written as numbers."""
    return frame[names].to_numpy(dtype=object).astype(np.float64)


def _counterfactuals(
    setup: DiceSetup,
    query: DiceQuery,
    progress: Progress,
    trees: dict[int, Any],
    meter: EvaluationMeter,
) -> Floats:
    """Return DiCE's counterfactuals of one row."""
    score = _score_function(progress)
    explainer = setup.make_explainer(setup, query, score, meter)
    if setup.method == "genetic":
        _reuse_trees(explainer, score, trees, query.target)
    random.seed(query.seed)
    np.random.seed(query.seed)  # noqa: NPY002 - DiCE draws from there, in its own process
    if setup.network is not None:
        import torch

        torch.manual_seed(query.seed)
    examples = explainer.generate_counterfactuals(
        pd.DataFrame([query.values], columns=setup.names),
        total_CFs=query.n,
        desired_class=1,
        permitted_range=query.ranges,
        features_to_vary=query.vary,
        **setup.options,
    ).cf_examples_list[0]
    sparse = examples.final_cfs_df_sparse
    return values_of(examples.final_cfs_df if sparse is None else sparse, setup.names)


def _score_function(progress: Progress) -> ScoreFunction:
    """Return a function that asks the caller's process for the scores of rows."""

    def score(rows: Floats | None) -> Floats:
        scores: Floats | None = progress.ask(rows)
        if scores is None:
            raise EvaluationsSpent
        return scores

    return score


def _reuse_trees(explainer: Any, score: ScoreFunction, trees: dict[int, Any], target: int) -> None:
    """Let DiCE build its tree of the training rows once, without asking the model about them."""

    def build(*arguments: Any) -> Any:
        if target not in trees:
            model = explainer.model.model
            explainer.model.model = ModelForDice(lambda _: score(None), model.names)
            trees[target] = type(explainer).build_KD_tree(explainer, *arguments)
            explainer.model.model = model
        return trees[target]

    explainer.build_KD_tree = build


@contextmanager
def silence() -> Iterator[None]:
    """Let DiCE neither warn nor print within a ``with`` block."""
    streams = sys.stdout, sys.stderr
    with warnings.catch_warnings(), open(devnull, "w") as nowhere:
        warnings.simplefilter("ignore")
        sys.stdout = sys.stderr = nowhere
        try:
            yield
        finally:
            sys.stdout, sys.stderr = streams


def _silence_process(*, uses_torch: bool) -> None:
    """Leave the terminal to the caller's process, and stay on one thread."""
    sys.stdout = sys.stderr = open(devnull, "w")  # noqa: SIM115 - as long as the process
    logging.disable()
    warnings.simplefilter("ignore")
    if uses_torch:
        import torch

        torch.set_num_threads(1)
