"""Work on a Dask cluster: a map over items whose results are combined where they are, in a tree."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from queue import Empty, Queue
from typing import Any, TypeVar, cast

from koopsieve._types import KoopsieveError, needed
from koopsieve.execution.executors import Executor, Progress, silent

Item = TypeVar("Item")
Result = TypeVar("Result")

_FAN_IN = 4  # results combined by one task


@dataclass(frozen=True, eq=False)
class DaskExecutor(Executor):
    """Items are worked on by the workers of a `dask.distributed` client.

    A worker that is lost costs time, not the result: what it held is computed again elsewhere.

    Parameters
    ----------
    client : distributed.Client
        Connected; it is not closed here. One thread per worker is best: what runs there is linear algebra.
    """

    client: Any

    @classmethod
    def connect(cls, address: str, timeout: float = 5.0) -> DaskExecutor:
        """Return the executor of a running scheduler, such as `tcp://host:8786`; an error where none answers."""
        client = needed("distributed", "Computing on a Dask cluster", "dask").Client
        import dask

        settings: Any = {"distributed.comm.timeouts.connect": timeout, "distributed.comm.retry.count": 0}
        try:
            with dask.config.set(settings):
                return cls(_within(timeout, lambda: client(address, timeout=timeout)))
        except (OSError, ValueError, TypeError, TimeoutError, RuntimeError) as error:
            raise KoopsieveError(
                f"No Dask scheduler answered at {address!r} within {timeout:g} s ({type(error).__name__}). Start one "
                "with `dask scheduler`, check address and port, or leave the scheduler out to work on this machine."
            ) from error

    @property
    def workers(self) -> int:
        """Number of threads of all workers together."""
        return max(1, sum(int(count) for count in self.client.nthreads().values()))

    @property
    def sharing(self) -> int:
        """The most threads that one worker has."""
        return max([1, *(int(count) for count in self.client.nthreads().values())])

    @property
    def here(self) -> bool:
        """Never: even a single worker is another process, perhaps on another machine."""
        return False

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Yield the results in order, each as soon as it and those before it are there."""
        with _clear_error_when_lost():
            futures = self._submit(function, items)
        while futures:
            with _clear_error_when_lost():
                result = futures.pop(0).result()
            yield result

    def map_reduce(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        combine: Callable[[Result, Result], Result],
        *,
        progress: Progress = silent,
        description: str = "Working",
    ) -> Result:
        """Return all results combined by a tree of tasks; only the last result travels to the client."""
        import distributed

        as_completed: Any = distributed.as_completed
        # before items that were not begun yet: what is combined need not be kept
        submit = partial(self.client.submit, _combined, combine=combine, pure=False, priority=1)
        with _clear_error_when_lost():
            level = self._submit(function, items)
            leaves = as_completed(list(level))
            while len(level) > 1:
                groups = [level[i : i + _FAN_IN] for i in range(0, len(level), _FAN_IN)]
                level = [group[0] if len(group) == 1 else submit(*group) for group in groups]
            for _ in progress(leaves, description, len(items)):
                pass
            result: Result = level[0].result()
        return result

    def _submit(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Any]:
        if not self.client.nthreads():
            raise KoopsieveError(
                "The Dask scheduler has no workers. Start some with `dask worker ADDRESS`, then try again."
            )
        # a task of its own: sent to each worker once, not with every item, and made again if its holder is lost
        shared = self.client.submit(_the, function, pure=False)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # data in memory must travel once
            # all at once: the scheduler then hands them out one by one, to the workers that are free
            found: list[Any] = self.client.map(_apply, items, function=shared, pure=False)
            return found


def _within(seconds: float, connect: Callable[[], Result]) -> Result:
    """Return the result, or fail after `seconds`: a port that accepts and never answers would hold Dask up."""
    found: Queue[tuple[Result | None, Exception | None]] = Queue()

    def run() -> None:
        try:
            found.put((connect(), None))
        except Exception as error:
            found.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        result, error = found.get(timeout=seconds + 1)
    except Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return cast("Result", result)


@contextmanager
def _clear_error_when_lost() -> Iterator[None]:
    """Raise a clear error when the cluster is gone, whichever way Dask notices it."""
    from concurrent.futures import CancelledError

    from distributed.comm.core import CommClosedError
    from distributed.scheduler import KilledWorker

    try:
        yield
    except (CancelledError, CommClosedError, KilledWorker, TimeoutError, ConnectionError) as error:
        raise KoopsieveError(
            f"The Dask cluster was lost in the middle of the work ({type(error).__name__}). Start scheduler and "
            "workers again, or leave the scheduler out to work on this machine."
        ) from error


def _the(value: Item) -> Item:
    return value


def _apply(item: Item, function: Callable[[Item], Result]) -> Result:
    return function(item)


def _combined(*results: Result, combine: Callable[[Result, Result], Result]) -> Result:
    return reduce(combine, results)
