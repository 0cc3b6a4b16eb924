"""Equations on a CUDA device."""
