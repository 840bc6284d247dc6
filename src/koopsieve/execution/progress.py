"""What a user sees of a long job: progress through its items, and the seconds that each stage took."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

Item = TypeVar("Item")


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
