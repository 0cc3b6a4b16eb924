"""The side of DiCE: runs in a process of its own, and asks the other side for probabilities.

In DiCE's eyes features are called ``x000``, ``x001``, …, levels ``000``, ``001``, …, and there
are two classes, the second of which is the wanted one. Its names thus never collide, and a
table of its values is a table of numbers.
"""

import copy
import logging
import random
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing.connection import Connection
from os import devnull
from signal import SIG_IGN, SIGINT, signal
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from proce.methods.published.dice.network import DiceNetwork

Values = NDArray[np.float64]
_NOTHING = "No counterfactuals found"  # what DiCE then raises begins like this
_PARTS = {
    "random": ("explainer_interfaces.dice_random", "model_interfaces.base_model"),
    "genetic": ("explainer_interfaces.dice_genetic", "model_interfaces.base_model"),
    "gradient": ("explainer_interfaces.dice_pytorch", "model_interfaces.pytorch_model"),
}


@dataclass(frozen=True, eq=False)
class Kit:
    """What DiCE needs for any row.

    Attributes
    ----------
    data
        Its view of the training rows.
    method
        ``random``, ``genetic`` or ``gradient``.
    options
        What its search is told beside the row.
    network
        For ``gradient``.
    """

    data: Any
    method: str
    options: dict[str, Any]
    network: DiceNetwork | None = None

    @property
    def names(self) -> list[str]:
        """The features in their order."""
        return list(self.data.feature_names)


@dataclass(frozen=True, eq=False)
class Question:
    """One row.

    Attributes
    ----------
    query
        Its values by feature.
    own
        The same in the entries of our rows ``(f,)``, with what is missing.
    target
        The wanted class.
    n
        How many counterfactuals.
    vary
        Names that may change.
    ranges
        Where to: ``[low, high]``, or levels.
    seed
        Of all that is random.
    evaluations
        That a network may be asked for.
    """

    query: dict[str, Any]
    own: torch.Tensor
    target: int
    n: int
    vary: list[str]
    ranges: dict[str, list[Any]]
    seed: int
    evaluations: int


@dataclass(frozen=True, eq=False)
class Ask:
    """A question back: how far on the wanted side are these rows ``(n, f)``, 0 to 1?

    None for the training rows, which are known.
    """

    rows: Values | None


@dataclass(frozen=True, eq=False)
class Answer:
    """What DiCE found: rows ``(n, f)``, what it said, and how often it asked its network."""

    rows: Values
    note: str = ""
    evaluations: int = 0


class Spent(Exception):  # noqa: N818 - an outcome that has to pass through DiCE
    """The row has no evaluations left."""


def load(method: str) -> None:
    """Import DiCE, and what it would import later, so that a forked process has it."""
    for part in _PARTS[method]:
        import_module(f"dice_ml.{part}")


def serve(kit: Kit, pipe: Connection, other_end: Connection) -> None:
    """Answer questions until the other side hangs up."""
    other_end.close()  # or its end would never be noticed
    _keep_still()
    trees: dict[int, Any] = {}
    while True:
        try:
            question = pipe.recv()
        except EOFError:
            return
        pipe.send(answered(kit, question, pipe, trees))


def answered(kit: Kit, question: Question, pipe: Any, trees: dict[int, Any]) -> Answer:
    """Put one question to DiCE; whatever it raises becomes part of the answer.

    Parameters
    ----------
    kit, question
        What it knows, and what it is asked.
    pipe
        To the other side.
    trees
        Its search trees of the training rows, by target; kept from row to row.
    """
    meter = Meter(question.evaluations)
    rows, note = np.empty((0, len(kit.names))), ""
    try:
        rows = _found(kit, question, pipe, trees, meter)
    except Spent:
        pass
    except Exception as error:
        if not str(error).startswith(_NOTHING):
            note = f"DiCE failed: {type(error).__name__}: {error}"
    return Answer(rows, note, meter.used)


@dataclass(eq=False)
class Meter:
    """Counts what a network is asked; to be hooked before its forward step."""

    most: int
    used: int = 0

    def __call__(self, module: Any, inputs: tuple[torch.Tensor]) -> None:
        """Count one row, or many."""
        asked = 1 if inputs[0].dim() == 1 else len(inputs[0])
        if self.used + asked > self.most:
            self.used = self.most
            raise Spent
        self.used += asked


def finder(kit: Kit, question: Question, ask: Any, meter: Meter) -> Any:
    """Return DiCE's explainer of one row; a new one each time, since it keeps a state."""
    import dice_ml

    data = copy.copy(kit.data)  # the gradient method writes the row's ranges into it
    if kit.network is None:
        model = dice_ml.Model(model=AskedByDice(ask, kit.names), backend="sklearn")
        return dice_ml.Dice(data, model, method=kit.method)
    module = kit.network.of_row(question.own, question.target, question.vary, kit.names)
    module.register_forward_pre_hook(meter)
    model = dice_ml.Model(model=module, backend="PYT", func="ohe-min-max")
    return dice_ml.Dice(data, model, method="gradient")


@dataclass(eq=False)
class AskedByDice:
    """The model as DiCE asks a classifier of scikit-learn: with frames."""

    ask: Any
    names: list[str]
    classes_: Values = field(default_factory=lambda: np.array([0, 1]))

    def predict_proba(self, frame: pd.DataFrame) -> Values:
        """Return the probabilities of not reaching and of reaching the wanted class."""
        score: Values = self.ask(values_of(frame, self.names))
        return np.stack([1 - score, score], axis=1)

    def predict(self, frame: pd.DataFrame) -> Any:
        """Return the likelier class."""
        return self.predict_proba(frame).argmax(1)


def values_of(frame: pd.DataFrame, names: list[str]) -> Values:
    """Return a frame of DiCE's as numbers ``(n, f)``; levels are written as numbers."""
    return frame[names].to_numpy(dtype=object).astype(np.float64)


def _found(kit: Kit, question: Question, pipe: Any, trees: dict[int, Any], meter: Meter) -> Values:
    """Return DiCE's counterfactuals of one row."""
    explainer = finder(kit, question, _asking(pipe), meter)
    if kit.method == "genetic":
        _remember_trees(explainer, pipe, trees, question.target)
    random.seed(question.seed)
    np.random.seed(question.seed)  # noqa: NPY002 - DiCE draws from there, in its own process
    torch.manual_seed(question.seed)
    examples = explainer.generate_counterfactuals(
        pd.DataFrame([question.query], columns=kit.names),
        total_CFs=question.n,
        desired_class=1,
        permitted_range=question.ranges,
        features_to_vary=question.vary,
        **kit.options,
    ).cf_examples_list[0]
    sparse = examples.final_cfs_df_sparse
    return values_of(examples.final_cfs_df if sparse is None else sparse, kit.names)


def _asking(pipe: Any) -> Any:
    def ask(rows: Values | None) -> Values:
        pipe.send(Ask(rows))
        score: Values | None = pipe.recv()
        if score is None:
            raise Spent
        return score

    return ask


def _remember_trees(explainer: Any, pipe: Any, trees: dict[int, Any], target: int) -> None:
    """Build DiCE's tree of the training rows once, without asking the model about them."""

    def build(*arguments: Any) -> Any:
        if target not in trees:
            asked = explainer.model.model
            known = AskedByDice(lambda _: _asking(pipe)(None), asked.names)
            explainer.model.model = known
            trees[target] = type(explainer).build_KD_tree(explainer, *arguments)
            explainer.model.model = asked
        return trees[target]

    explainer.build_KD_tree = build


@contextmanager
def silence() -> Iterator[None]:
    """Let DiCE neither warn nor print for a moment."""
    before = sys.stdout, sys.stderr
    with warnings.catch_warnings(), open(devnull, "w") as nowhere:
        warnings.simplefilter("ignore")
        sys.stdout = sys.stderr = nowhere
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before


def _keep_still() -> None:
    """Leave the terminal to the other side, and stay on one thread."""
    signal(SIGINT, SIG_IGN)
    sys.stdout = sys.stderr = open(devnull, "w")  # noqa: SIM115 - as long as the process
    logging.disable()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
