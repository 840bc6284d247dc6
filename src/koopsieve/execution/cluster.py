"""Work on a Dask cluster: a map over items whose results are combined where they are, in a tree."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from koopsieve._types import KoopsieveError
from koopsieve.execution.executors import Executor
from koopsieve.execution.progress import Progress, silent

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
        """Return the executor of a running scheduler, such as `tcp://host:8786`.

        Raises
        ------
        KoopsieveError
            If there is no scheduler at that address within `timeout` seconds, or Dask is not installed.
        """
        try:
            import distributed
        except ImportError as error:
            raise KoopsieveError("Dask is not installed. Install it with: pip install 'koopsieve[dask]'.") from error
        try:
            client: Any = distributed.Client  # its own types are incomplete
            return cls(client(address, timeout=timeout))
        except (OSError, ValueError, TimeoutError) as error:
            raise KoopsieveError(
                f"No Dask scheduler answered at {address!r} within {timeout:g} s ({type(error).__name__}). Start one "
                "with `dask scheduler`, check address and port, or leave the scheduler out to work on this machine."
            ) from error

    @property
    def workers(self) -> int:
        """How many threads all workers have together."""
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
        futures = self._submit(function, items)
        while futures:
            yield futures.pop(0).result()

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
        level = self._submit(function, items)
        leaves = as_completed(list(level))
        combining = Combining(combine)
        while len(level) > 1:
            groups = [level[i : i + _FAN_IN] for i in range(0, len(level), _FAN_IN)]
            # before items that were not begun yet: what is combined need not be kept
            submit = partial(self.client.submit, combining, pure=False, priority=1)
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
            # all at once: the scheduler then hands them out one by one, to whoever is free
            found: list[Any] = self.client.map(_apply, items, function=shared, pure=False)
            return found


def _the(value: Item) -> Item:
    return value


def _apply(item: Item, function: Callable[[Item], Result]) -> Result:
    return function(item)


@dataclass(frozen=True)
class Combining:
    """Combine several results, two at a time."""

    combine: Callable[[Any, Any], Any]

    def __call__(self, first: Any, *others: Any) -> Any:
        """Return all of them combined, in order."""
        for other in others:
            first = self.combine(first, other)
        return first
