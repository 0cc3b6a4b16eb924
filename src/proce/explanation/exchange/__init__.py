"""Explanations as JSON, and back."""
