"""Explanations as pages."""
