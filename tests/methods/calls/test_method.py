"""The record of versions, with and without the metadata of an installed package."""

import importlib.metadata

import pytest

import proce
from proce.benchmark.folder import describe_environment
from proce.methods.calls import method


@pytest.mark.parametrize("found", ["none", "broken"])
def test_a_source_tree_without_metadata_has_its_version(
    found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(name: str) -> str | None:
        if found == "none":
            raise importlib.metadata.PackageNotFoundError(name)
        return None  # as Python says of metadata without a version

    monkeypatch.setattr(method, "version", version)
    method._version.cache_clear()
    try:
        assert method.own_version() == proce.__version__
        assert method.versions_in_use()["proce"] == proce.__version__
        assert method.versions_in_use(["no-such-package"])["no-such-package"] == "not installed"
        assert describe_environment()["versions"]["proce"] == proce.__version__
    finally:
        method._version.cache_clear()
