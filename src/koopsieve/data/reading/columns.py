"""One column of an Arrow table or record batch as an array: samples, times, or which episode a row is in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray, KoopsieveError
from koopsieve.data.clock import Clock, seconds_per_count

if TYPE_CHECKING:
    import pyarrow as pa


def matrix(table: pa.Table | pa.RecordBatch, names: Sequence[str], source: str) -> FloatArray:
    """Return some columns of numbers side by side, missing ones as NaN."""
    columns = np.empty((table.num_rows, len(names)))
    for j, name in enumerate(names):
        columns[:, j] = numbers(_whole(table, name), name, source)
    return columns


def numbers(column: pa.Array, name: str, source: str) -> FloatArray:
    """Return a column of numbers as float64, missing ones as NaN."""
    import pyarrow as pa

    kind = column.type
    numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)
    if not any(is_kind(kind) for is_kind in numeric):
        raise KoopsieveError(
            f"Column {name!r} of {source} must hold numbers. Got {kind}{_first_text(column)}. Convert it first."
        )
    values: FloatArray = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return values


def clock_of(table: pa.Table | pa.RecordBatch, time: str) -> Clock:
    """Return how a column tells time; whole numbers and dates count from its first row."""
    import pyarrow as pa

    column = _whole(table, time)
    counts, kind, unit = _counts(column)
    if len(counts) == 0 or not pa.types.is_integer(counts.type):
        return Clock()
    return Clock(kind, int(counts[0].as_py() or 0), unit, bool(getattr(column.type, "tz", None)))


def seconds(table: pa.Table | pa.RecordBatch, time: str, clock: Clock, source: str, first: int = 0) -> FloatArray:
    """Return a time column as float64: numbers as they are, dates and durations in seconds since the clock's origin.

    Plain whole numbers count from the origin too, so that nanoseconds since 1970 keep their digits. `first` is the
    number of the first row, for messages.
    """
    import pyarrow as pa

    counts, _, unit = _counts(_whole(table, time))
    if counts.null_count == 0 and pa.types.is_integer(counts.type):
        ticks = counts.cast(pa.int64(), safe=False).to_numpy(zero_copy_only=False)
        return np.asarray((ticks - clock.origin) * seconds_per_count(unit), dtype=float)
    times = numbers(counts, time, source)
    if not np.isfinite(times).all():
        row = first + int(np.argmin(np.isfinite(times)))
        raise KoopsieveError(f"Time {time!r} is missing or infinite at row {row} of {source}. Every row needs one.")
    return times


def episode_runs(
    table: pa.Table | pa.RecordBatch, episode: str, source: str, first: int = 0
) -> Iterator[tuple[Any, int, int]]:
    """Yield the episode, the first row and the row after the last of every run of rows of one episode.

    Raises
    ------
    KoopsieveError
        If a row does not say which episode it is in.
    """
    ids = _whole(table, episode)
    missing = _missing(ids)
    if missing.any():
        raise KoopsieveError(
            f"Column {episode!r} of {source} must say for every row which episode it is in. "
            f"It is missing at row {first + int(np.argmax(missing))}."
        )
    codes = _codes(ids, episode, source)
    borders = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(codes)]
    for start, stop in pairwise(borders):
        if start < stop:
            yield ids[start].as_py(), start, stop


def _missing(ids: pa.Array) -> BoolArray:
    """Return which rows hold no value, or one that is not a number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    missing: BoolArray = pc.is_null(ids, nan_is_null=True).to_numpy(zero_copy_only=False)
    if not isinstance(ids, pa.DictionaryArray) or missing.any():
        return missing
    no_value = np.flatnonzero(pc.is_null(ids.dictionary, nan_is_null=True).to_numpy(zero_copy_only=False))
    return np.isin(ids.indices.to_numpy(zero_copy_only=False), no_value)


def _codes(ids: pa.Array, episode: str, source: str) -> IndexArray:
    """Return a whole number per row, the same for rows of the same episode."""
    import pyarrow as pa

    try:
        encoded = ids if isinstance(ids, pa.DictionaryArray) else ids.dictionary_encode()
    except pa.ArrowNotImplementedError as error:
        raise KoopsieveError(
            f"Column {episode!r} of {source} must hold numbers, text or dates to tell episodes apart. Got {ids.type}."
        ) from error
    codes: IndexArray = encoded.indices.to_numpy(zero_copy_only=False).astype(np.intp)
    return codes


def _whole(table: pa.Table | pa.RecordBatch, name: str) -> pa.Array:
    """Return a column as one array, dictionaries of its chunks made one."""
    import pyarrow as pa

    column = table.column(name)
    if isinstance(column, pa.ChunkedArray):
        whole = column.unify_dictionaries().combine_chunks()
        return whole.chunk(0) if isinstance(whole, pa.ChunkedArray) and whole.num_chunks else whole
    return column


def _counts(column: pa.Array) -> tuple[pa.Array, str, str | None]:
    """Return dates, times of day and durations as whole numbers, with their kind and unit; numbers as they are."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_date(kind):
        column, kind = column.cast(pa.timestamp("ms")), pa.timestamp("ms")
    if pa.types.is_timestamp(kind):
        return column.cast(pa.int64()), "dates", kind.unit
    if pa.types.is_duration(kind) or pa.types.is_time64(kind):
        return column.cast(pa.int64()), "durations", kind.unit
    if pa.types.is_time32(kind):
        return column.cast(pa.int32()), "durations", kind.unit
    return column, "counts", None


def _first_text(column: pa.Array) -> str:
    for row, value in enumerate(column.to_pylist()):
        try:
            float(value) if value is not None else None
        except (TypeError, ValueError):
            return f", {value!r} at row {row}"
    return ""
