"""The compiled twins of choosing."""
