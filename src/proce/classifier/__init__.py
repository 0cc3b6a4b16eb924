"""Any model behind one interface, and the paper's two networks."""

from proce.classifier.accept import as_classifier
from proce.classifier.answer_table import AnswerTable
from proce.classifier.asking import (
    ask_about_changes,
    ask_about_shown,
    ask_as_given,
    ask_frame,
    ask_raw,
    ask_read_frame,
    given_to_model,
)
from proce.classifier.classifier import (
    Classifier,
    DifferentiableClassifier,
    decide,
    position_of,
    predict_in_blocks,
)
from proce.classifier.encoding import InputEncoding, label, one_hot
from proce.classifier.networks import TrainedNetwork, fit_network

__all__ = [
    "AnswerTable",
    "Classifier",
    "DifferentiableClassifier",
    "InputEncoding",
    "TrainedNetwork",
    "as_classifier",
    "ask_about_changes",
    "ask_about_shown",
    "ask_as_given",
    "ask_frame",
    "ask_raw",
    "ask_read_frame",
    "decide",
    "fit_network",
    "given_to_model",
    "label",
    "one_hot",
    "position_of",
    "predict_in_blocks",
]
