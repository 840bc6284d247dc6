"""Progress: long stages wrap what they iterate over in a function the caller gives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

Item = TypeVar("Item")


class Progress(Protocol):
    """Pass `items` on unchanged while showing how far along `description` is."""

    def __call__(self, items: Iterable[Item], description: str, total: int | None) -> Iterable[Item]:
        """Return an iterable over the same items; `total` is None where nobody knows how many there are."""
        ...


def silent(items: Iterable[Item], description: str, total: int | None) -> Iterable[Item]:
    """Show nothing."""
    return items
