"""What kernels read of a problem, laid out once, on the host or on a device."""
