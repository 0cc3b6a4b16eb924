"""Many machines: rows explained by the workers of a Dask cluster, from files into files."""

from proce.batch.cluster.lazy import explain_dask

__all__ = ["explain_dask"]
