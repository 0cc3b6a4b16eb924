"""Frames of any library: their cells, their layout, and the layout as JSON."""
