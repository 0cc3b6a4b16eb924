"""Everything that the package needs has a permissive licence, and is listed."""

from email.message import Message
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def licences(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "hardening"))
    import licences

    return licences


def described(licences: ModuleType, **fields: str) -> object:
    """Return what is made of a distribution with some fields."""
    metadata = Message()
    for field, value in {"Name": "new", **fields}.items():
        metadata[field.replace("_", "-")] = value
    found = SimpleNamespace(metadata=metadata)
    return licences.Licensed("new", licences.licence_of(found))


def test_every_dependency_has_a_permissive_licence(licences: ModuleType) -> None:
    everything = licences.closure()
    assert {"torch", "pandas", "fastapi", "dask", "pg8000", "onnxruntime"} <= {
        each.name for each in everything
    }
    assert licences.refused(everything) == []


def test_the_page_lists_every_dependency(licences: ModuleType) -> None:
    page = licences.PAGE.read_text("utf-8")
    assert page.partition("| package |")[2] == licences.table(licences.closure()).removeprefix(
        "| package |"
    )


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"License": "UNKNOWN"},
        {"License_Expression": "GPL-3.0-only"},
        {"License_Expression": "MIT AND LGPL-2.1-or-later"},
        {"License": "GPL", "Classifier": "License :: OSI Approved :: GNU General Public License"},
    ],
)
def test_a_new_dependency_with_another_or_no_licence_is_refused(
    licences: ModuleType, fields: dict[str, str]
) -> None:
    assert licences.refused([described(licences, **fields)]) != []


@pytest.mark.parametrize(
    ("fields", "licence"),
    [
        ({"License_Expression": "MIT"}, "MIT"),
        ({"License_Expression": "Apache-2.0 OR BSD-2-Clause"}, "Apache-2.0 OR BSD-2-Clause"),
        ({"License": "3-Clause BSD License"}, "BSD-3-Clause"),
        (
            {"License": "a\nlong\ntext", "Classifier": "License :: OSI Approved :: MIT License"},
            "MIT",
        ),
    ],
)
def test_a_permissive_licence_is_read_wherever_it_stands(
    licences: ModuleType, fields: dict[str, str], licence: str
) -> None:
    new = described(licences, **fields)
    assert new.licence == licence
    assert licences.refused([new]) == []
