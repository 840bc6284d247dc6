"""Columns of times: numbers, dates, durations or times of day, as numbers since an origin, and back again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from koopsieve._types import FloatArray

if TYPE_CHECKING:
    import pandas as pd

_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_DATE_FORMATS = tuple(
    f"{day}{clock}"
    for day in ("%d.%m.%Y", "%Y/%m/%d")
    for clock in (" %H:%M:%S.%f", " %H:%M:%S", " %H:%M", "", "T%H:%M:%S.%f", "T%H:%M:%S")
)  # beside ISO 8601, those that mean one day only
_ZONE = r":\d\d(?:[.,]\d+)?\s*(?:Z|[+-]\d\d(?::?\d\d)?)$"
_TIME_OF_DAY = r"\d{1,2}:\d\d(?::\d\d(?:\.\d{1,9})?)?"
_LARGEST = 2**62  # whole numbers up to here differ by what 64 bits hold
DATES_AND_DURATIONS = ("datetime", "date", "datetime64", "period", "timedelta", "timedelta64")  # as pandas calls them
Stamps = NDArray[Any]  # float64, int64, datetime64 or timedelta64


@dataclass(frozen=True)
class TimeBase:
    """What the times of a source are counted in, and from where.

    Examples
    --------
    >>> TimeBase("dates", 1_700_000_000_000, "ms").stamps(np.array([0.0, 0.25]))
    array(['2023-11-14T22:13:20.000', '2023-11-14T22:13:20.250'],
          dtype='datetime64[ms]')
    >>> TimeBase().stamps(np.array([0.25]))
    array([0.25])
    """

    # {"numbers", "counts", "dates", "durations"}: floats, whole numbers, dates, or durations (times of day too)
    kind: str = "numbers"
    origin: int = 0  # what is subtracted from all but plain numbers, so that none of their digits is lost
    # {"s", "ms", "us", "ns"}: what one count of dates and durations is. Numbers and counts keep the unit they have
    unit: str | None = None
    zoned: bool = False  # whether dates have a time zone; they are shown in UTC then

    @classmethod
    def of(cls, times: pd.Series) -> TimeBase:
        """Return the base of a column that `as_times` gave; all but floats count from its first row."""
        dtype, zone = times.dtype, getattr(times.dtype, "tz", None)
        if dtype.kind == "f" or len(times) == 0:
            return cls()
        unit = None if dtype.kind in "iu" else np.datetime_data(f"M8[{dtype.unit}]" if zone else dtype)[0]
        first = 0 if times.isna().iloc[0] else int(_counts(times.iloc[:1])[0])
        return cls({"M": "dates", "m": "durations"}.get(dtype.kind, "counts"), first, unit, zone is not None)

    @property
    def seconds_per_count(self) -> float:
        """What counts are multiplied by; one where they have no unit."""
        return 1.0 if self.unit is None else _UNITS[self.unit]

    def elapsed(self, times: pd.Series) -> FloatArray:
        """Return a column that `as_times` gave as float64: floats as they are, dates in seconds since the origin.

        Whole numbers count from the origin too, so that nanoseconds since 1970 keep their digits. Missing ones are NaN.
        """
        if times.dtype.kind in "fiu":
            counts = times.to_numpy()
            return np.asarray(counts - self.origin if self.kind == "counts" else counts, dtype=float)
        if _UNITS[times.dt.unit] > self.seconds_per_count:
            times = times.dt.as_unit(self.unit)
        unit = _UNITS[times.dt.unit]
        origin = self.origin * round(self.seconds_per_count / unit)
        return np.where(times.isna(), np.nan, (_counts(times) - origin) * unit)

    def stamps(self, times: FloatArray) -> Stamps:
        """Return times as the source has them."""
        if self.kind == "numbers":
            return times
        counts = self.origin + np.round(times / self.seconds_per_count).astype(np.int64)
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

    def finer(self, step: float) -> tuple[TimeBase, float]:
        """Return a base that can tell times `step` apart, and what to add to times on it."""
        if self.kind == "counts" and not float(step).is_integer():
            return TimeBase(), float(self.origin)
        if self.unit is None:
            return self, 0.0
        origin = self.origin * round(self.seconds_per_count / _UNITS["ns"])
        return TimeBase(self.kind, origin, "ns", self.zoned), 0.0


PLAIN_NUMBERS = TimeBase()


def as_times(column: pd.Series, date_format: str | None = None) -> pd.Series | None:
    """Return a column of times of any kind as int64, float64, dates (with a zone: in UTC) or durations.

    Text is read as numbers, ISO 8601 dates, dates such as 31.12.2024 10:00:00 or 2024/12/31, and times of day, or as
    `date_format` says. None if it is nothing of the kind, or some dates have a zone and some have none.
    """
    import pandas as pd

    kind = pd.api.types.infer_dtype(column, skipna=True)
    try:
        if kind == "string":
            return _from_text(column.str.strip(), date_format)
        if kind in ("integer", "boolean", "floating", "mixed-integer-float", "decimal", "empty"):
            whole = kind in ("integer", "boolean") and not column.isna().any()
            whole = whole and column.min() >= -_LARGEST and column.max() <= _LARGEST
            return column.astype("int64" if whole else "float64")
        if kind in ("datetime", "date", "datetime64"):
            zoned = (
                {getattr(stamp, "tzinfo", None) is not None for stamp in column.dropna()}
                if column.dtype.kind == "O"
                else {False}
            )
            zoned = {True} if getattr(column.dtype, "tz", None) is not None else zoned
            return None if len(zoned) > 1 else pd.to_datetime(column, utc=zoned == {True})
        if kind == "period":
            return column.dt.to_timestamp()
        if kind in ("timedelta", "timedelta64"):
            return pd.to_timedelta(pd.Series(column.to_numpy(), column.index))  # those of Arrow too
        return pd.to_timedelta(column.map(str, na_action="ignore")) if kind == "time" else None
    except (ValueError, TypeError, OverflowError, AttributeError):
        return None


def _from_text(text: pd.Series, date_format: str | None) -> pd.Series | None:
    import pandas as pd

    if date_format is not None:
        return _coarsest(pd.to_datetime(text, format=date_format, utc="%z" in date_format))
    numbers = pd.to_numeric(text, errors="coerce")
    if numbers.notna().eq(text.notna()).all():
        return as_times(numbers)
    text = text.str.replace(r"(:\d\d),(\d)", r"\1.\2", regex=True)
    if text.dropna().str.fullmatch(_TIME_OF_DAY).all():
        return _coarsest(pd.to_timedelta(text.where(text.str.count(":") != 1, text + ":00")))
    zoned = text.dropna().str.contains(_ZONE)
    if zoned.any() and not zoned.all():
        return None
    found, left = [], text.dropna()
    for form in ("ISO8601", *_DATE_FORMATS):
        dates = pd.to_datetime(left, format=form, errors="coerce", utc=bool(zoned.any()))
        found.append(dates.dropna())
        left = left[dates.isna()]
        if left.empty:
            return _coarsest(pd.concat(found).reindex(text.index))
    return None


def _coarsest(times: pd.Series) -> pd.Series:
    """Return dates or durations in the largest unit that loses nothing."""
    for unit in ("s", "ms", "us"):
        rounded = times.dt.as_unit(unit)
        if rounded.eq(times).where(times.notna(), True).all():
            return rounded
    return times


def _counts(times: pd.Series) -> NDArray[np.int64]:
    """Return whole numbers, or the counts that dates and durations are stored as."""
    return np.asarray(times.to_numpy(dtype="int64") if times.dtype.kind in "iu" else times.array.asi8)


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
