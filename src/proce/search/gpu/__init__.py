"""The search on a CUDA device: kernels that take one instance per program, written in Triton."""
