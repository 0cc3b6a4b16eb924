"""A file of rows: how it is written, its types, and its rows cut into chunks."""
