"""The pictures of the architecture are those of the tree: drawn again, and held to the imports."""

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grimp
import pytest

FIGURES = Path(__file__).parents[2] / "docs" / "figures"


@pytest.fixture(scope="module")
def drawing() -> dict[str, Any]:
    return runpy.run_path(str(FIGURES / "architecture.py"))


@pytest.mark.parametrize("name", ["rooms.svg", "explain.svg"])
def test_a_picture_shows_the_tree_as_it_is(drawing: dict[str, Any], name: str) -> None:
    again = drawing["PICTURES"][name]()
    assert (FIGURES / name).read_text("utf-8") == again, "run docs/figures/architecture.py"


def arrows(step: Any) -> Iterator[tuple[str, str]]:
    for child in step.then:
        yield step.module, child.module
        yield from arrows(child)


def test_every_arrow_of_the_way_is_an_import(drawing: dict[str, Any]) -> None:
    """A module is imported by itself, or through the package whose names it gives."""
    imports = grimp.build_graph("proce", cache_dir=None)
    pairs = list(arrows(drawing["EXPLAIN"]))
    assert len(pairs) > 10
    for caller, module in pairs:
        assert module in imports.modules
        imported = imports.find_modules_directly_imported_by(caller)
        package = ".".join(module.split(".")[:2])
        assert module in imported or package in imported, f"{caller} does not import {module}"
