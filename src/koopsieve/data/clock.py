"""Times as seconds since an origin, and back to what the source called them: numbers, or dates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
Stamp = float | np.datetime64


@dataclass(frozen=True)
class Clock:
    """How a source tells time.

    Parameters
    ----------
    origin : int
        What is subtracted from times that are whole numbers or dates, so that none of their digits is lost.
    unit : {"s", "ms", "us", "ns"}, optional
        What one count of dates and durations is; none for plain numbers, which keep the unit they have.
    dated : bool
        Whether times are dates.

    Examples
    --------
    >>> Clock(1_700_000_000_000, "ms", dated=True).stamp(0.25)
    np.datetime64('2023-11-14T22:13:20.250')
    >>> Clock().stamp(0.25)
    0.25
    """

    origin: int = 0
    unit: str | None = None
    dated: bool = False

    def stamp(self, time: float) -> Stamp:
        """Return a time as the source would have told it."""
        if self.dated and self.unit is not None:
            unit: Any = self.unit
            date: np.datetime64 = np.datetime64(self.origin + round(time / seconds_per_count(unit)), unit)
            return date
        return self.origin * seconds_per_count(self.unit) + time


PLAIN_NUMBERS = Clock()


def seconds_per_count(unit: str | None) -> float:
    """Return what counts of a unit are multiplied by; one for plain numbers."""
    return 1.0 if unit is None else _UNITS[unit]
