"""Structural causal models: equations, actions and their consequences."""
