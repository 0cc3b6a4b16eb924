"""Explanations as HTML: the report page, and the table that a notebook shows."""
