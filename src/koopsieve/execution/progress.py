"""What a user sees of a long job: progress through its items, and the seconds that each stage took."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

Item = TypeVar("Item")
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

    How much work is still to come is known only roughly, so the share never falls and may jump.

    Parameters
    ----------
    show : callable
        Is given the share done and what is being done.
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
            told = (f"{share:.0%}".replace("%", " %"), description, time_left(share, now - self._begun))
            self._write(", ".join(text for text in told if text))


def time_left(share: float, seconds: float) -> str:
    """Return in words how long a job still takes of which a share was done in so many seconds; empty if unknown.

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
