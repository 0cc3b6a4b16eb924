"""Settings for every test."""

import os

import pytest
import torch
from hypothesis import settings

# Tests run in parallel processes; threads inside each would only compete with them.
torch.set_num_threads(1)

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # read when Triton is imported

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture
def device() -> torch.device:
    """Return where kernels of Triton run: a CUDA device or, without one, its interpreter."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
