"""Graphs that are read off data."""
