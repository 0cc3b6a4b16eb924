"""Stub."""


def discover():
    """Stub."""
