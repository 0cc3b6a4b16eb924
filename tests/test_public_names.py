"""The names people script against."""

import subprocess
import sys

import pytest

import proce
from proce import errors

PUBLIC = {
    "Action",
    "Categorical",
    "CausalGraph",
    "Codec",
    "Continuous",
    "Dataset",
    "DiscoveryWarning",
    "Evaluation",
    "Explanation",
    "Explanations",
    "Ordinal",
    "PersistenceError",
    "ProCE",
    "Progress",
    "Receipt",
    "Rule",
    "Schema",
    "SearchSettings",
    "StructuralCausalModel",
    "as_classifier",
    "evaluate",
    "explain_dask",
    "explain_parallel",
    "load_dataset",
    "progress_bar",
}
ERRORS = {
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.ProceError)
}
HEAVY = {"torch", "pandas", "sklearn", "numba", "networkx", "matplotlib"}


def test_the_public_names_are_these() -> None:
    assert set(proce.__all__) == PUBLIC | ERRORS | {"__version__"}
    assert set(proce.__all__) <= set(dir(proce))


@pytest.mark.parametrize("name", sorted(PUBLIC | ERRORS))
def test_a_public_name_is_there_when_asked_for(name: str) -> None:
    assert getattr(proce, name).__name__ == name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Proce'"):
        _ = proce.Proce


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, proce; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert HEAVY & {*run.stdout.split()} == set()
