"""Progress bars with the time left, on a terminal; silence elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from rich.console import Console
from rich.progress import track

from koopsieve.execution import Serial
from koopsieve.identify import Estimate, Identifier, identify_in_batches
from koopsieve.regression import RegressionStatistics

Item = TypeVar("Item")


def bar(items: Iterable[Item], description: str, total: int | None) -> Iterator[Item]:
    """Pass items on while a bar on standard error shows how many are done and how long the rest will take."""
    console = Console(stderr=True)
    yield from track(items, description, total=total, console=console, transient=True, disable=not console.is_terminal)


@dataclass(frozen=True)
class Portions(Serial):
    """Serial work in many portions, so that a bar has something to count."""

    count: int = 20

    @property
    def workers(self) -> int:
        """As many as there are portions."""
        return self.count


@dataclass(frozen=True)
class Watched:
    """An identifier that works through the targets portion by portion, with a bar on a terminal."""

    identifier: Identifier

    def identify(self, statistics: RegressionStatistics) -> Estimate:
        """Identify; the answer is that of the identifier alone."""
        if not Console(stderr=True).is_terminal:
            return self.identifier.identify(statistics)  # all targets together are faster
        return identify_in_batches(self.identifier, statistics, Portions(), progress=bar)
