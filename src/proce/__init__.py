"""Counterfactual explanations that respect what causes what.

The names below are loaded when first used, so that ``import proce`` stays quick.
"""

from typing import TYPE_CHECKING

from proce.lazy import load_on_first_use as _load_on_first_use

if TYPE_CHECKING:
    from proce.batch.cluster import explain_dask
    from proce.batch.parallel import explain_parallel
    from proce.causal import CausalGraph, DiscoveryWarning, StructuralCausalModel
    from proce.classifier import as_classifier
    from proce.datasets import Dataset, load_dataset
    from proce.errors import (
        BenchmarkError,
        DatasetError,
        DownloadError,
        FileError,
        GraphError,
        MissingExtraError,
        ModelError,
        ModelInterfaceError,
        ModelOutputError,
        NotFittedError,
        PersistenceError,
        ProceError,
        ReceiptError,
        RowIndexError,
        RuleError,
        SchemaError,
        SearchError,
        StoreError,
        UnsupportedOption,
        WorkerError,
    )
    from proce.explanation import Explanation, Explanations, Receipt
    from proce.methods import ProCE, Progress, SearchSettings, progress_bar
    from proce.metrics import Evaluation, evaluate
    from proce.schema import Action, Categorical, Codec, Continuous, Ordinal, Rule, Schema
else:  # a type checker would take every misspelt name for an object
    __getattr__, __dir__ = _load_on_first_use(__name__)

__version__ = "0.1.0"

__all__ = [
    "Action",
    "BenchmarkError",
    "Categorical",
    "CausalGraph",
    "Codec",
    "Continuous",
    "Dataset",
    "DatasetError",
    "DiscoveryWarning",
    "DownloadError",
    "Evaluation",
    "Explanation",
    "Explanations",
    "FileError",
    "GraphError",
    "MissingExtraError",
    "ModelError",
    "ModelInterfaceError",
    "ModelOutputError",
    "NotFittedError",
    "Ordinal",
    "PersistenceError",
    "ProCE",
    "ProceError",
    "Progress",
    "Receipt",
    "ReceiptError",
    "RowIndexError",
    "Rule",
    "RuleError",
    "Schema",
    "SchemaError",
    "SearchError",
    "SearchSettings",
    "StoreError",
    "StructuralCausalModel",
    "UnsupportedOption",
    "WorkerError",
    "__version__",
    "as_classifier",
    "evaluate",
    "explain_dask",
    "explain_parallel",
    "load_dataset",
    "progress_bar",
]
