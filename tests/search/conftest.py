"""The search runs on numba or on PyTorch; tests that ask for ``engine`` run on both."""

import pytest

from proce.compiled import engine as kernel_engine


@pytest.fixture(params=["numba", "torch"])
def engine(request, monkeypatch):
    if request.param == "torch":
        monkeypatch.setattr(kernel_engine, "use_kernels", lambda device: False)
    return request.param
