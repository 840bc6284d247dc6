"""Who has the cores: many small matrix products are faster on one BLAS thread than on several that wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def one_blas_thread() -> Iterator[int]:
    """Let BLAS use one thread inside; give the number it would have used, which may now work side by side.

    Where BLAS already uses one (OMP_NUM_THREADS, a Dask worker, another such block), there are none to give.
    """
    blas = _blas()
    threads = max((library.num_threads for library in blas.lib_controllers), default=1)
    with blas.limit(limits=1):
        yield threads


@cache
def _blas() -> Any:
    """Return the BLAS libraries of this process; finding them takes milliseconds, so it is done once."""
    import scipy.linalg  # noqa: F401  has a BLAS of its own, which must be there to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
