"""Arrays and Python objects as columns: numbers, dates and durations become arrays, anything else labels."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from koopsieve.data.reading.table import Column, label_column

_NUMBERS = (int, float, bool, Decimal, np.number, np.bool_)
_UNITS = ("s", "ms", "us", "ns")


def array_column(values: NDArray[Any], zoned: bool = False) -> Column:
    """Return a NumPy array of any kind as a column."""
    kind = values.dtype.kind
    if kind in "OUS":
        return object_column(values.tolist())
    return Column(_in_known_unit(values), zoned=zoned) if kind in "Mm" else Column(values)


def object_column(values: Sequence[Any]) -> Column:
    """Return Python objects as a column, None where one is missing: numbers or times if all are, or else labels."""
    return _numbers(values) or _times(values) or label_column(values)


def _in_known_unit(values: NDArray[Any]) -> NDArray[Any]:
    """Return dates or durations in seconds or finer; days and hours become seconds."""
    unit, count = np.datetime_data(values.dtype)
    known = unit if unit in _UNITS and count == 1 else "ns" if unit in ("ps", "fs", "as") or count > 1 else "s"
    return values.astype(f"{values.dtype.kind}8[{known}]")


def _numbers(values: Sequence[Any]) -> Column | None:
    """Return numbers as a column, whole ones exactly; nothing if there is anything else."""
    kinds = {type(value) for value in values} - {type(None)}
    if not all(issubclass(kind, _NUMBERS) and not issubclass(kind, np.complexfloating) for kind in kinds):
        return None
    if kinds and all(issubclass(kind, bool | np.bool_) for kind in kinds) and None not in values:
        return Column(np.array(values, dtype=bool))
    if kinds and all(issubclass(kind, int | np.integer) for kind in kinds) and None not in values:
        try:
            return Column(np.array(values, dtype=np.int64))
        except OverflowError:
            pass  # beyond 64 bits: as floats
    try:
        return Column(np.array([np.nan if value is None else float(value) for value in values], dtype=float))
    except OverflowError:
        return None


def _times(values: Sequence[Any]) -> Column | None:
    """Return dates, times of day or durations as a column; nothing if there is anything else."""
    kinds = {type(value) for value in values} - {type(None)}
    if not kinds:
        return None
    if all(issubclass(kind, date | np.datetime64) for kind in kinds):
        return _dates(values)
    if all(issubclass(kind, time | timedelta | np.timedelta64) for kind in kinds):
        return Column(np.array([_duration(value) for value in values], dtype="m8[us]"))
    return None


def _dates(values: Sequence[Any]) -> Column | None:
    zoned = {value.tzinfo is not None for value in values if isinstance(value, datetime)}
    if len(zoned) > 1:
        return None  # some with a zone and some without cannot be put in order
    plain = [value.astimezone(UTC).replace(tzinfo=None) if zoned == {True} and value else value for value in values]
    return Column(np.array(plain, dtype="M8[us]"), zoned=zoned == {True})


def _duration(value: Any) -> Any:
    if not isinstance(value, time):
        return value
    return timedelta(hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond)
