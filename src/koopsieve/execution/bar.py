"""A progress bar with the time left, on a terminal; silence elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def bar(items: Iterable[Item], description: str, total: int | None) -> Iterator[Item]:
    """Pass items on while a bar on standard error shows how many are done and how long the rest will take."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    yield from track(items, description, total=total, console=console, transient=True, disable=not console.is_terminal)
