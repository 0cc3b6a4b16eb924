"""Without numba the search runs on PyTorch, and says so."""

import subprocess
import sys

import torch

from proce.compiled import engine

WITHOUT_NUMBA = """
import logging
import sys

sys.modules["numba"] = None  # as if it were not installed
logging.basicConfig()
import torch
from proce.compiled.engine import use_kernels

print([use_kernels(torch.device("cpu")) for _ in range(2)])
"""


def test_numba_works_on_the_cpu_alone():
    assert engine.use_kernels(torch.device("cpu"))
    assert not engine.use_kernels(torch.device("cuda"))


def test_without_numba_a_warning_is_logged_once():
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMBA], capture_output=True, text=True, check=True
    )
    assert run.stdout == "[False, False]\n"
    assert run.stderr.count("searching without numba") == 1
