"""One column of an Arrow table as an array: samples, times, or which episode a row is in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from koopsieve._types import FloatArray, IndexArray, KoopsieveError

if TYPE_CHECKING:
    import pyarrow as pa

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def numbers(column: pa.ChunkedArray, name: str, source: str) -> FloatArray:
    """Return a column of numbers as float64, missing ones as NaN."""
    import pyarrow as pa

    kind = column.type
    numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)
    if not any(is_kind(kind) for is_kind in numeric):
        raise KoopsieveError(
            f"Column {name!r} of {source} must hold numbers. Got {kind}{_first_text(column)}. Convert it first."
        )
    values: FloatArray = column.cast(pa.float64(), safe=False).to_numpy()
    return values


def seconds(column: pa.ChunkedArray, name: str, source: str) -> FloatArray:
    """Return a time column as float64: numbers as they are, dates and durations in seconds from the first row.

    Whole numbers count from the first row too, so that nanoseconds since 1970 keep their digits.
    """
    import pyarrow as pa

    kind, unit = column.type, 1.0
    if pa.types.is_date(kind):
        column, kind = column.cast(pa.timestamp("ms")), pa.timestamp("ms")
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind) or pa.types.is_time(kind):
        unit = _SECONDS[kind.unit]
        column = column.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64())
    if column.null_count == 0 and pa.types.is_integer(column.type):
        ticks = column.cast(pa.int64(), safe=False).to_numpy()
        return np.asarray((ticks - ticks[0]) * unit)
    times = numbers(column, name, source)
    if not np.isfinite(times).all():
        row = int(np.argmin(np.isfinite(times)))
        raise KoopsieveError(f"Time {name!r} is missing or infinite at row {row} of {source}. Every row needs one.")
    return times


def episode_codes(ids: pa.ChunkedArray, episode: str, source: str) -> IndexArray:
    """Return a whole number per row, the same for rows of the same episode."""
    import pyarrow.compute as pc

    missing = pc.is_null(ids, nan_is_null=True).to_numpy()
    if missing.any():
        raise KoopsieveError(
            f"Column {episode!r} of {source} must say for every row which episode it is in. "
            f"It is missing at row {int(np.argmax(missing))}."
        )
    encoded = ids.combine_chunks().dictionary_encode()
    codes: IndexArray = encoded.indices.to_numpy(zero_copy_only=False).astype(np.intp)
    return codes


def _first_text(column: pa.ChunkedArray) -> str:
    for row, value in enumerate(column.to_pylist()):
        try:
            float(value) if value is not None else None
        except (TypeError, ValueError):
            return f", {value!r} at row {row}"
    return ""
