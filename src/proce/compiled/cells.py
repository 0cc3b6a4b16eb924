"""What kernels ask of a single cell of a row."""

from proce.compiled.kernel import part


@part
def is_missing(value: float, is_number: bool) -> bool:
    """Return whether a cell is missing: a number that is NaN, or a level below 0."""
    return value != value if is_number else value < 0
