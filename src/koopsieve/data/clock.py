"""Times as numbers since an origin, and back to what the source called them: numbers, counts, dates or durations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from koopsieve._types import FloatArray

_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
Stamps = NDArray[Any]  # float64, int64, datetime64 or timedelta64


@dataclass(frozen=True)
class Clock:
    """How a source tells time.

    Parameters
    ----------
    kind : {"numbers", "counts", "dates", "durations"}
        Floats, whole numbers, dates, or durations (times of day too).
    origin : int
        What is subtracted from all but plain numbers, so that none of their digits is lost.
    unit : {"s", "ms", "us", "ns"}, optional
        What one count of dates and durations is. Numbers and counts keep the unit they have.
    zoned : bool
        Whether dates have a time zone; they are told in UTC then.

    Examples
    --------
    >>> Clock("dates", 1_700_000_000_000, "ms").stamps(np.array([0.0, 0.25]))
    array(['2023-11-14T22:13:20.000', '2023-11-14T22:13:20.250'],
          dtype='datetime64[ms]')
    >>> Clock().stamps(np.array([0.25]))
    array([0.25])
    """

    kind: str = "numbers"
    origin: int = 0
    unit: str | None = None
    zoned: bool = False

    def stamps(self, times: FloatArray) -> Stamps:
        """Return times as the source told them."""
        if self.kind == "numbers":
            return times
        counts = self.origin + np.round(times / seconds_per_count(self.unit)).astype(np.int64)
        if self.kind == "counts":
            return counts
        return counts.astype(f"{'datetime64' if self.kind == 'dates' else 'timedelta64'}[{self.unit}]")

    def text(self, time: float) -> str | float | int:
        """Return one time as a file would hold it: a number, or a date or duration as text."""
        stamp = self.stamps(np.array([time]))[0]
        if self.kind == "dates":
            return f"{stamp}{'Z' if self.zoned else ''}"
        if self.kind == "durations":
            return _duration(int(stamp.astype(f"timedelta64[{self.unit}]").astype(np.int64)), self.unit or "s")
        found: float | int = stamp.item()
        return found

    def finer(self, step: float) -> tuple[Clock, float]:
        """Return a clock that can tell times `step` apart, and what to add to times on it."""
        if self.kind == "counts" and not float(step).is_integer():
            return Clock(), float(self.origin)
        if self.unit is None:
            return self, 0.0
        return Clock(self.kind, self.origin * round(seconds_per_count(self.unit) / _UNITS["ns"]), "ns", self.zoned), 0.0


PLAIN_NUMBERS = Clock()


def seconds_per_count(unit: str | None) -> float:
    """Return what counts of a unit are multiplied by; one where they have none."""
    return 1.0 if unit is None else _UNITS[unit]


def _duration(count: int, unit: str) -> str:
    """Return a duration as [−]hours:minutes:seconds, with as many digits as the unit has.

    Examples
    --------
    >>> _duration(3_723_050, "ms"), _duration(-5, "s")
    ('01:02:03.050', '-00:00:05')
    """
    digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[unit]
    whole, rest = divmod(abs(count), 10**digits)
    clock = f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    return f"{'-' if count < 0 else ''}{clock}{f'.{rest:0{digits}d}' if digits else ''}"
