"""What numba compiles: whether it does the work here, and how its kernels are compiled."""
