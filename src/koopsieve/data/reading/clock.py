"""The clock of a stream: times of record batches, and even steps from batch to batch and file to file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data.reading.columns import numbers
from koopsieve.data.times import TOLERANCE

if TYPE_CHECKING:
    import pyarrow as pa

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def clock_of(batch: pa.RecordBatch, time: str, source: str) -> tuple[int, float]:
    """Return what to subtract from times that are whole numbers, so that no digit is lost, and the median step."""
    column = _ticks(batch.column(time))[0]
    start = 0 if _is_float(column) else int(column[0].as_py() or 0)
    steps = np.diff(times_of(batch, time, start, source))
    if not (steps.size and np.median(steps) > 0):
        raise KoopsieveError(f"Time {time!r} does not increase in {source}. Sort the rows, or leave time= out.")
    return start, float(np.median(steps))


def times_of(batch: pa.RecordBatch, time: str, start: int, source: str) -> FloatArray:
    """Return the times of a batch as float64: numbers as they are, dates and durations in seconds since `start`."""
    import pyarrow as pa

    column, unit = _ticks(batch.column(time))
    if column.null_count == 0 and pa.types.is_integer(column.type):
        return np.asarray((column.to_numpy(zero_copy_only=False).astype(np.int64) - start) * unit, dtype=float)
    times = numbers(pa.chunked_array([column]), time, source)
    if not np.isfinite(times).all():
        raise KoopsieveError(f"Time {time!r} is missing or infinite in {source}. Every row needs one.")
    return times


def check_steps(before: FloatArray | None, times: FloatArray, dt: float, place: str) -> None:
    """Refuse a step that is not `dt`, the one from the end of the times `before` included."""
    joined = times if before is None else np.concatenate([before[-1:], times])
    wrong = np.abs(np.diff(joined) - dt) > TOLERANCE * dt + 4 * np.spacing(np.abs(joined).max(initial=0.0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise KoopsieveError(
            f"The rows of an episode must follow one another in steps of {dt:.6g}. Expected time "
            f"{joined[row] + dt:.10g}, got {joined[row + 1]:.10g} {place}. Put rows and files in the order they were "
            "recorded, or start a new episode where samples are missing."
        )


def _is_float(column: pa.Array) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_floating(column.type))


def _ticks(column: pa.Array) -> tuple[pa.Array, float]:
    """Return dates and durations as whole numbers, with the unit of one in seconds; numbers as they are."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return column.cast(pa.int64()), _SECONDS[kind.unit]
    return column, 1.0
