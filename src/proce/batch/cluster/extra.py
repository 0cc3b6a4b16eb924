"""Dask is an optional package: everything that needs it asks here first."""

from importlib.util import find_spec

from proce.errors import MissingExtraError

_PACKAGES = ("dask", "distributed", "fsspec")


def require_dask() -> None:
    """Refuse to go on where Dask is not installed."""
    absent = [name for name in _PACKAGES if find_spec(name) is None]
    if absent:
        raise MissingExtraError(
            f"a cluster needs the package {absent[0]!r}, which is not installed. Install it with"
            " pip install 'proce[batch]'."
        )
