"""Graphs as data: edges, origins, and the texts that they are read from and written to."""
