"""Executors: the same interface whether one core or a cluster does the work; never an `if` in the stages."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, reduce
from itertools import islice
from typing import Any, TypeVar

from koopsieve._types import KoopsieveError
from koopsieve.execution.progress import Progress, silent

Item = TypeVar("Item")
Result = TypeVar("Result")


class Executor(ABC):
    """Something that applies a function to every item of a sequence."""

    @property
    @abstractmethod
    def workers(self) -> int:
        """Number of items worked on at the same time."""

    @property
    def sharing(self) -> int:
        """Number of these that share the memory of one process."""
        return 1

    @property
    def here(self) -> bool:
        """Whether the work is done in this process."""
        return True

    @abstractmethod
    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Yield the results in the order of the items."""

    def map_reduce(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        combine: Callable[[Result, Result], Result],
        *,
        progress: Progress = silent,
        description: str = "Working",
    ) -> Result:
        """Return all results combined, which must not depend on how they are bracketed."""
        return reduce(combine, progress(self.map(function, items), description, len(items)))


@dataclass(frozen=True)
class Serial(Executor):
    """One item after the other, here; each with as many threads as the linear algebra library likes."""

    @property
    def workers(self) -> int:
        """One."""
        return 1

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Yield the results in order."""
        return map(function, items)


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Threads(Executor):
    """As many items at a time as there are cores, in this process.

    While they run, linear algebra uses one thread per item: items then need not wait for each other.

    Parameters
    ----------
    threads : int
        By default the number of cores.
    """

    threads: int = field(default_factory=available_cores)

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise KoopsieveError(f"threads must be at least one. Got {self.threads}.")

    @property
    def workers(self) -> int:
        """The number of threads."""
        return self.threads

    @property
    def sharing(self) -> int:
        """All of them."""
        return self.threads

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Yield the results in order; only a few more items than workers are begun before their turn."""
        coming = iter(items)
        with one_blas_thread(), ThreadPoolExecutor(self.workers) as pool:
            begun: deque[Future[Result]] = deque(
                pool.submit(function, item) for item in islice(coming, 2 * self.workers)
            )
            try:
                while begun:
                    yield begun.popleft().result()
                    begun.extend(pool.submit(function, item) for item in islice(coming, 1))
            finally:
                for future in begun:
                    future.cancel()


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
