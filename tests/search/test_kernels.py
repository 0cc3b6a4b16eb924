"""Without numba the search runs on PyTorch, and says so."""

import logging
import sys

import pytest
import torch

import proce.search.kernels
from proce.search.kernels import engine


@pytest.fixture(autouse=True)
def _asked_anew():
    engine.kernels_available.cache_clear()
    yield
    engine.kernels_available.cache_clear()


def test_numba_works_on_the_cpu_alone():
    assert engine.use_kernels(torch.device("cpu"))
    assert not engine.use_kernels(torch.device("cuda"))


def test_without_numba_a_warning_is_logged_once(monkeypatch, caplog):
    monkeypatch.delattr(proce.search.kernels, "survival", raising=False)
    monkeypatch.setitem(sys.modules, "proce.search.kernels.survival", None)
    with caplog.at_level(logging.WARNING, logger="proce.search.kernels.engine"):
        assert not engine.use_kernels(torch.device("cpu"))
        assert not engine.use_kernels(torch.device("cpu"))
    assert len(caplog.records) == 1
    assert "searching without numba" in caplog.text
