"""Where samples come from, so that a message can name the row however data were cut, embedded or divided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Stretch(NamedTuple):
    """Consecutive rows of one source: how it is called, the first of them, and how many."""

    label: str
    first: int
    rows: int


@dataclass(frozen=True)
class Places:
    """The sources of consecutive samples, in order; joined and cut as the samples are.

    Examples
    --------
    >>> places = Places.of("episode 0", 5, 3).then(Places.of("episode 1", 0, 2))
    >>> places.name(1), places.between(2, 5).name(1)
    ('row 6 of episode 0', 'row 0 of episode 1')
    """

    stretches: tuple[Stretch, ...] = ()

    @classmethod
    def of(cls, label: str, first: int, rows: int) -> Places:
        """Return the places of rows of one source."""
        return cls((Stretch(label, first, rows),))

    def then(self, other: Places) -> Places:
        """Return these places followed by others."""
        if not self.stretches or not other.stretches:
            return self if self.stretches else other
        last, *rest = self.stretches[-1], *other.stretches
        if last.label == rest[0].label and last.first + last.rows == rest[0].first:
            rest[0] = Stretch(last.label, last.first, last.rows + rest[0].rows)
            return Places((*self.stretches[:-1], *rest))
        return Places(self.stretches + other.stretches)

    def between(self, start: int, stop: int) -> Places:
        """Return the places of samples start … stop−1."""
        kept, passed = [], 0
        for label, first, rows in self.stretches:
            a, b = max(start - passed, 0), min(stop - passed, rows)
            if a < b:
                kept.append(Stretch(label, first + a, b - a))
            passed += rows
        return Places(tuple(kept))

    def name(self, sample: int) -> str:
        """Return the place of one sample in words."""
        label, first, _ = self.between(sample, sample + 1).stretches[0]
        return f"row {first} of {label}"
