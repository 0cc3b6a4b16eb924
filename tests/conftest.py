"""Settings for every test."""

import os

from hypothesis import settings

# Tests run in parallel processes; threads inside each would only compete with them.
os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when a library with threads is loaded

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
