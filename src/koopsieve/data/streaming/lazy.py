"""Dask collections: computed where they are needed, on a worker too."""

from __future__ import annotations

from typing import Any


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
