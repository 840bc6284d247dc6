"""Thousands of products of small matrices are faster on one thread than on threads that wait for each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS use one thread inside; on a busy machine more have been measured to take twenty times as long."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield
