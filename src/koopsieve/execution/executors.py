"""Who computes, one core or a cluster under the same interface, and what a user sees of it: progress, and seconds."""

from __future__ import annotations

import os
import sys
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, reduce
from itertools import islice
from typing import Any, Protocol, TypeVar

from koopsieve._types import whole_number

Item = TypeVar("Item")
Result = TypeVar("Result")
_SPARE: ContextVar[int] = ContextVar("threads that BLAS leaves to this one; a new thread has none to give", default=1)
_SHARE_OF_A_LOOP = 0.6  # of what is left of its part: others may follow


class Progress(Protocol):
    """Pass `items` on unchanged while showing the progress of `description`."""

    def __call__(self, items: Iterable[Item], description: str, total: int | None) -> Iterable[Item]:
        """Return an iterable over the same items; `total` is None if their number is not known."""
        ...


def silent(items: Iterable[Item], description: str, total: int | None) -> Iterable[Item]:
    """Show nothing."""
    return items


def bar(items: Iterable[Item], description: str, total: int | None) -> Iterator[Item]:
    """Pass items on while a bar on standard error shows the share done and the time left, if that is a terminal."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    yield from track(items, description, total=total, console=console, transient=True, disable=not console.is_terminal)


class WholeJob:
    """Progress of a job as one share between 0 and 1, whatever its loops: each takes most of what its part has left.

    How much work is still to come is known only roughly, so the share never falls and may jump. `show` is given it, and
    what is being done.
    """

    def __init__(self, show: Callable[[float, str], None]) -> None:
        self._show, self._done, self._end = show, 0.0, 1.0

    def __call__(self, items: Iterable[Item], description: str, total: int | None) -> Iterator[Item]:
        """Pass items on; a loop inside this one moves within the share of one item."""
        start, end = self._done, self._end
        room = _SHARE_OF_A_LOOP * (end - start)
        count = max(total or 1, 1)
        for done, item in enumerate(items):
            self._move(start + room * min(done / count, 1.0), description)
            self._end = start + room * min((done + 1) / count, 1.0)
            yield item
        self._end = end
        self._move(start + room, description)

    @contextmanager
    def part(self, share: float) -> Iterator[None]:
        """Give what happens inside a share of the whole job."""
        end = self._end
        self._end = min(self._done + share, end)
        yield
        self._move(self._end, "")
        self._end = end

    def _move(self, share: float, description: str) -> None:
        self._done = max(self._done, share)
        self._show(self._done, description)


def part(progress: Progress, share: float) -> AbstractContextManager[None]:
    """Return the context of a part of a job; nothing for a progress that does not know of parts."""
    known = getattr(progress, "part", None)
    return nullcontext() if known is None else known(share)


@contextmanager
def whole_job(progress: Progress | bool) -> Iterator[Progress | bool]:
    """Show one bar for all that happens inside if `progress` is True; else give it back as it is.

    In a terminal it is a bar with the time left, in a notebook a line that changes, elsewhere a line now and then.
    """
    if progress is not True:
        yield progress
        return
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_jupyter:
        from IPython import display

        shown: Any = display  # has no types
        handle = shown.display({"text/plain": "0 %"}, raw=True, display_id=True)
        yield WholeJob(_Lines(lambda text: handle.update({"text/plain": text}, raw=True), every=0.5))
    elif not console.is_terminal:
        yield WholeJob(_Lines(lambda text: sys.stderr.write(f"koopsieve: {text}\n"), every=10.0))
    else:
        with _live_bar(console) as show:
            yield WholeJob(show)


@contextmanager
def _live_bar(console: Any) -> Iterator[Callable[[float, str], None]]:
    """Draw a bar that moves on while nothing is reported, and vanishes at the end."""
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    columns = (TextColumn("{task.description:22s}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    begun = time.monotonic()
    with RichProgress(*columns, TextColumn("{task.fields[left]}"), console=console, transient=True) as shown:
        job = shown.add_task("Starting", total=1.0, left="")

        def show(share: float, description: str) -> None:
            left = time_left(share, time.monotonic() - begun)
            shown.update(job, completed=share, left=left, description=description or None)

        yield show


class _Lines:
    """Write a line when some time has passed since the last one."""

    def __init__(self, write: Callable[[str], object], every: float) -> None:
        self._write, self._every = write, every
        self._begun = self._last = time.monotonic()

    def __call__(self, share: float, description: str) -> None:
        now = time.monotonic()
        if now - self._last >= self._every:
            self._last = now
            parts = (f"{share:.0%}".replace("%", " %"), description, time_left(share, now - self._begun))
            self._write(", ".join(text for text in parts if text))


def time_left(share: float, seconds: float) -> str:
    """Return in words how long a job still takes, given the share done and the seconds so far; empty if unknown.

    Examples
    --------
    >>> time_left(0.25, 10.0), time_left(0.5, 200.0), time_left(0.0, 3.0)
    ('about 30 s left', 'about 3 min left', '')
    """
    if share <= 0.01 or seconds < 1:
        return ""
    left = seconds * (1 - share) / share
    return f"about {left:.0f} s left" if left < 100 else f"about {left / 60:.0f} min left"


@dataclass(frozen=True)
class Stopwatch:
    """Seconds per stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure what is done inside a `with` block."""
        begun = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - begun


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
        whole_number("threads", self.threads, 1)

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


def in_this_process(executor: Executor | None) -> Executor:
    """Return an executor if it works here, else all cores."""
    return executor if executor is not None and executor.here else Threads()


@contextmanager
def one_blas_thread() -> Iterator[int]:
    """Let BLAS use one thread inside; give the number it would have used, which may now work side by side.

    A block inside another one gives the same number. Where BLAS uses one already (OMP_NUM_THREADS, a Dask worker, a
    thread of `Threads`), there are none to give.
    """
    blas, outside = _blas(), _SPARE.get()
    threads = max((outside, *(library.num_threads for library in blas.lib_controllers)))
    _SPARE.set(threads)
    try:
        with blas.limit(limits=1):
            yield threads
    finally:
        _SPARE.set(outside)


@cache
def _blas() -> Any:
    """Return the BLAS libraries of this process; finding them takes milliseconds, so it is done once."""
    import scipy.linalg  # noqa: F401  has a BLAS of its own, which must be there to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
