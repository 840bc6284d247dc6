"""Reading a slice of something that is not in memory yet: a memory map, Zarr, HDF5, or a Dask collection."""

from __future__ import annotations

from typing import Any

import numpy as np

from koopsieve._types import FloatArray


def read(values: Any) -> FloatArray:
    """Return a slice of anything as a float64 array."""
    return np.asarray(compute(values), dtype=float)


def compute(values: Any) -> Any:
    """Return the values of a Dask collection; anything else as it is."""
    if not hasattr(values, "__dask_graph__"):
        return values
    import distributed

    try:
        distributed.get_worker()
    except ValueError:
        return values.compute()
    with distributed.worker_client():  # steps aside while it waits, so that one thread per worker is enough
        return values.compute()
