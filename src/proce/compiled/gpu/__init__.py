"""Networks on rows on a CUDA device."""
