"""Explain many rows in worker processes, with the answers that one process gives."""
