"""Any model behind one interface, and the paper's two networks.

What learns a network is loaded when it is first used: learning needs PyTorch.
"""

from typing import TYPE_CHECKING

from proce.classifier.accept import as_classifier
from proce.classifier.answer_table import AnswerTable
from proce.classifier.asking import (
    ask_about_changes,
    ask_about_shown,
    ask_frame,
    ask_raw,
    ask_read_frame,
    asked_with,
    given_to_model,
)
from proce.classifier.classifier import (
    Classifier,
    DifferentiableClassifier,
    kept_by,
    position_of,
    predict_in_blocks,
)
from proce.classifier.decision import decide
from proce.classifier.encoding import InputEncoding, label, one_hot
from proce.classifier.networks import TrainedNetwork
from proce.lazy import loader as _loader

if TYPE_CHECKING:
    from proce.classifier.network_training import fit_network

__all__ = [
    "AnswerTable",
    "Classifier",
    "DifferentiableClassifier",
    "InputEncoding",
    "TrainedNetwork",
    "as_classifier",
    "ask_about_changes",
    "ask_about_shown",
    "ask_frame",
    "ask_raw",
    "ask_read_frame",
    "asked_with",
    "decide",
    "fit_network",
    "given_to_model",
    "kept_by",
    "label",
    "one_hot",
    "position_of",
    "predict_in_blocks",
]


_LOCATIONS = {"fit_network": "proce.classifier.network_training"}


if not TYPE_CHECKING:  # a type checker would take every misspelt name for an object
    __getattr__ = _loader(__name__, _LOCATIONS)
