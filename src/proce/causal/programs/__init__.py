"""The equations of causal models as flat arrays, and the kernels that run them."""
