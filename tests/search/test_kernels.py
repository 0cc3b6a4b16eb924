"""Without numba the search runs on PyTorch, and says so."""

import logging
import sys

import pytest
import torch

import proce.search
from proce.search import kernels


@pytest.fixture(autouse=True)
def _asked_anew():
    kernels.compiled.cache_clear()
    yield
    kernels.compiled.cache_clear()


def test_numba_works_on_the_cpu_alone():
    assert kernels.use_kernels(torch.device("cpu"))
    assert not kernels.use_kernels(torch.device("cuda"))


def test_without_numba_a_warning_is_logged_once(monkeypatch, caplog):
    monkeypatch.delattr(proce.search, "survival_kernel", raising=False)
    monkeypatch.setitem(sys.modules, "proce.search.survival_kernel", None)
    with caplog.at_level(logging.WARNING, logger="proce.search.kernels"):
        assert not kernels.use_kernels(torch.device("cpu"))
        assert not kernels.use_kernels(torch.device("cpu"))
    assert len(caplog.records) == 1
    assert "searching without numba" in caplog.text
