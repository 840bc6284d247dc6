"""Progress bars with the time left, on a terminal; silence elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, track

from koopsieve.identify import Estimate, Identifier
from koopsieve.regression import RegressionStatistics

Item = TypeVar("Item")


def bar(items: Iterable[Item], description: str, total: int | None) -> Iterator[Item]:
    """Pass items on while a bar on standard error shows how many are done and how long the rest will take."""
    console = Console(stderr=True)
    yield from track(items, description, total=total, console=console, transient=True, disable=not console.is_terminal)


@dataclass(frozen=True)
class Watched:
    """An identifier that shows, while it works, that it does: how many sweeps it needs is not known beforehand."""

    identifier: Identifier
    description: str

    def identify(self, statistics: RegressionStatistics) -> Estimate:
        """Identify, with a clock on a terminal."""
        console = Console(stderr=True)
        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            progress.add_task(f"{self.description} ({len(statistics.observables)} observables)", total=None)
            return self.identifier.identify(statistics)
