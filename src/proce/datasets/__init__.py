"""The seven data sets, by name."""

from proce.datasets.dataset import Dataset
from proce.datasets.load import load_dataset

__all__ = ["Dataset", "load_dataset"]
