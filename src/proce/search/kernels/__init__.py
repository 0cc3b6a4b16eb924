"""The compiled twins of the search's inner loops."""
