"""The terms of a score on a CUDA device."""
