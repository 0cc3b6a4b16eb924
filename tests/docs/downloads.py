"""Data sets that are not part of the package."""

import pytest

import proce

DOWNLOADED = ("adult", "law", "credit_card", "german_credit")


def need_file(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip unless the data set is in PROCE_DATA or the cache; nothing is downloaded."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError("tests do not download")

    monkeypatch.setattr("urllib.request.urlopen", refuse)
    try:
        proce.load_dataset(name)
    except proce.DownloadError:
        pytest.skip(f"the file of {name} is neither in PROCE_DATA nor in the cache")
