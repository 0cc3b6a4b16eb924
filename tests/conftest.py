"""Settings for every test."""

import os

import torch
from hypothesis import settings

# Tests run in parallel processes; threads inside each would only compete with them.
torch.set_num_threads(1)

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
