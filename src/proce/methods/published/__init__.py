"""Seven methods of the literature."""
