"""Structural causal models: actions, what follows from them, and ensembles of models."""
