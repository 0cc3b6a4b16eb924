"""Any model behind one interface, and the paper's two networks.

What learns a network is loaded when it is first used: learning needs PyTorch.
"""

from typing import TYPE_CHECKING

from proce.classifier.accept import as_classifier
from proce.classifier.classifier import (
    Classifier,
    DifferentiableClassifier,
    decide,
    kept_by,
    position_of,
    predict_in_blocks,
)
from proce.classifier.encoding import InputEncoding, label, one_hot
from proce.classifier.networks import TrainedNetwork
from proce.classifier.prediction import (
    model_inputs,
    predict_changed,
    predict_frame,
    predict_raw,
    predict_read_frame,
    predict_shown,
    predictor_of,
)
from proce.classifier.prediction_cache import PredictionCache
from proce.lazy import load_on_first_use

if TYPE_CHECKING:
    from proce.classifier.network_training import fit_network
else:  # a type checker would take every misspelt name for an object
    __getattr__, __dir__ = load_on_first_use(__name__)

__all__ = [
    "Classifier",
    "DifferentiableClassifier",
    "InputEncoding",
    "PredictionCache",
    "TrainedNetwork",
    "as_classifier",
    "decide",
    "fit_network",
    "kept_by",
    "label",
    "model_inputs",
    "one_hot",
    "position_of",
    "predict_changed",
    "predict_frame",
    "predict_in_blocks",
    "predict_raw",
    "predict_read_frame",
    "predict_shown",
    "predictor_of",
]
