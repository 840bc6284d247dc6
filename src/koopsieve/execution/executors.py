"""Executors: the same interface whether one core or a cluster does the work; never an `if` in the stages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Executor(Protocol):
    """Something that applies a function to every item of a sequence."""

    @property
    def workers(self) -> int:
        """How many items are worked on at the same time."""
        ...

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Yield the results in the order of the items."""
        ...


@dataclass(frozen=True)
class Serial:
    """One item after the other, here."""

    @property
    def workers(self) -> int:
        """One."""
        return 1

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Yield the results in order."""
        return map(function, items)
