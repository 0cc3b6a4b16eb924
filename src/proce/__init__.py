"""Counterfactual explanations that respect what causes what.

The names below are loaded when first used, so that ``import proce`` stays quick.
"""

from typing import TYPE_CHECKING

from proce.lazy import loader as _loader

if TYPE_CHECKING:
    from proce.batch.cluster import explain_dask
    from proce.batch.parallel.explain import explain_parallel
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

_LOCATIONS = {
    "Action": "proce.schema",
    "Categorical": "proce.schema",
    "CausalGraph": "proce.causal",
    "Codec": "proce.schema",
    "Continuous": "proce.schema",
    "Dataset": "proce.datasets",
    "BenchmarkError": "proce.errors",
    "DatasetError": "proce.errors",
    "DiscoveryWarning": "proce.causal",
    "DownloadError": "proce.errors",
    "Evaluation": "proce.metrics",
    "Explanation": "proce.explanation",
    "Explanations": "proce.explanation",
    "FileError": "proce.errors",
    "GraphError": "proce.errors",
    "MissingExtraError": "proce.errors",
    "ModelError": "proce.errors",
    "ModelInterfaceError": "proce.errors",
    "ModelOutputError": "proce.errors",
    "NotFittedError": "proce.errors",
    "Ordinal": "proce.schema",
    "PersistenceError": "proce.errors",
    "ProCE": "proce.methods",
    "ProceError": "proce.errors",
    "Progress": "proce.methods",
    "Receipt": "proce.explanation",
    "ReceiptError": "proce.errors",
    "RowIndexError": "proce.errors",
    "Rule": "proce.schema",
    "RuleError": "proce.errors",
    "Schema": "proce.schema",
    "SchemaError": "proce.errors",
    "SearchError": "proce.errors",
    "SearchSettings": "proce.methods",
    "StoreError": "proce.errors",
    "StructuralCausalModel": "proce.causal",
    "UnsupportedOption": "proce.errors",
    "WorkerError": "proce.errors",
    "as_classifier": "proce.classifier",
    "evaluate": "proce.metrics",
    "explain_dask": "proce.batch.cluster",
    "explain_parallel": "proce.batch.parallel.explain",
    "load_dataset": "proce.datasets",
    "progress_bar": "proce.methods",
}


if not TYPE_CHECKING:  # a type checker would take every misspelt name for an object
    __getattr__ = _loader(__name__, _LOCATIONS)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LOCATIONS})
