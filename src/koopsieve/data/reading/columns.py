"""One column of a table as an array: samples, times, or which episode a row is in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data.clock import Clock, seconds_per_count
from koopsieve.data.reading.table import Column, Table, changes, tells_apart


def matrix(table: Table, names: Sequence[str], source: str) -> FloatArray:
    """Return some columns of numbers side by side, missing ones as NaN."""
    columns = np.empty((table.num_rows, len(names)))
    for j, name in enumerate(names):
        columns[:, j] = numbers(table.column(name), name, source)
    return columns


def numbers(column: Column, name: str, source: str) -> FloatArray:
    """Return a column of numbers as float64, missing ones as NaN."""
    if not column.is_numeric and not column.missing.all():
        raise KoopsieveError(
            f"Column {name!r} of {source} must hold numbers. Got {column.kind}{_first_text(column)}. Convert it first."
        )
    return column.values.astype(float) if column.is_numeric else np.full(len(column.values), np.nan)


def clock_of(table: Table, time: str) -> Clock:
    """Return how a column tells time; whole numbers and dates count from its first row."""
    column = table.column(time)
    kind = column.values.dtype.kind
    if len(column.values) == 0 or column.labels is not None or kind not in "iuMm":
        return Clock()
    if kind in "iu":
        return Clock("counts", int(column.values[0]))
    first = 0 if column.missing[0] else int(column.values[0].astype(np.int64))
    return Clock("dates" if kind == "M" else "durations", first, np.datetime_data(column.values.dtype)[0], column.zoned)


def seconds(table: Table, time: str, clock: Clock, source: str, first: int = 0) -> FloatArray:
    """Return a time column as float64: numbers as they are, dates and durations in seconds since the clock's origin.

    Plain whole numbers count from the origin too, so that nanoseconds since 1970 keep their digits. `first` is the
    number of the first row, for messages.
    """
    column = table.column(time)
    if column.labels is None and column.values.dtype.kind in "iuMm" and not column.missing.any():
        unit = np.datetime_data(column.values.dtype)[0] if column.values.dtype.kind in "Mm" else None
        ticks = column.values.astype(np.int64)
        return np.asarray((ticks - clock.origin) * seconds_per_count(unit), dtype=float)
    plain = column if column.values.dtype.kind not in "Mm" else Column(np.where(column.missing, np.nan, 0.0))
    times = numbers(plain, time, source)
    if not np.isfinite(times).all():
        row = first + int(np.argmin(np.isfinite(times)))
        raise KoopsieveError(f"Time {time!r} is missing or infinite at row {row} of {source}. Every row needs one.")
    return times


def episode_runs(table: Table, episode: str, source: str, first: int = 0) -> Iterator[tuple[Any, int, int]]:
    """Yield the episode, the first row and the row after the last of every run of rows of one episode.

    Raises
    ------
    KoopsieveError
        If a row does not say which episode it is in.
    """
    ids = table.column(episode)
    missing = ids.missing
    if missing.any():
        raise KoopsieveError(
            f"Column {episode!r} of {source} must say for every row which episode it is in. "
            f"It is missing at row {first + int(np.argmax(missing))}."
        )
    if not tells_apart(ids):
        raise KoopsieveError(
            f"Column {episode!r} of {source} must hold numbers, text or dates to tell episodes apart. Got {ids.kind}."
        )
    for start, stop in pairwise([0, *changes(ids).tolist(), table.num_rows]):
        if start < stop:
            yield ids.value(start), start, stop


def _first_text(column: Column) -> str:
    for row in np.flatnonzero(~column.missing).tolist():
        value = column.value(row)
        try:
            float(value)
        except (TypeError, ValueError):
            return f", {value!r} at row {row}"
    return ""
