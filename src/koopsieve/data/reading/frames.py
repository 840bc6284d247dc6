"""Frames: pandas, polars, or anything with the Arrow interface becomes a table; several are several episodes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from koopsieve._types import KoopsieveError
from koopsieve.data.reading.tables import WHOLE_FRAME, Columns, Loaded, check_columns

if TYPE_CHECKING:
    import pyarrow as pa

INDEX = "the index"  # how an index without a name is called


def tables_from_frames(frames: Any, columns: Columns) -> list[Loaded]:
    """Return the wanted columns of a frame, or of a list of frames.

    An index of dates or durations is the time unless another column is.
    """
    if not isinstance(frames, list | tuple):
        return [_loaded(frames, columns, WHOLE_FRAME)]
    if not frames:
        raise KoopsieveError("There are no frames. Expected at least one, got an empty list.")
    return [_loaded(frame, columns, f"frame {i}") for i, frame in enumerate(frames)]


def _loaded(frame: Any, columns: Columns, source: str) -> Loaded:
    if columns.time is None and _has_times(frame):
        name = frame.index.name if isinstance(frame.index.name, str) else INDEX
        columns = replace(columns, time=name)
        frame = frame.rename_axis(index=name)
    return Loaded(source, as_table(frame, columns, source), columns)


def _has_times(frame: Any) -> bool:
    """Tell whether a pandas frame has an index of dates or durations."""
    kind = getattr(getattr(getattr(frame, "index", None), "dtype", None), "kind", "")
    return kind in "mM" and bool(kind) and hasattr(frame, "rename_axis")


def as_table(frame: Any, columns: Columns, source: str) -> pa.Table:
    """Return the wanted columns of a pandas or polars frame, or of anything with the Arrow interface."""
    import pyarrow as pa

    try:
        narrow = not isinstance(frame, pa.Table | pa.RecordBatch) and not hasattr(frame, "collect")
        names = list(getattr(frame, "columns", ())) if narrow else []
        if names:  # a column that nobody asked for need not be convertible
            frame = frame[[name for name in names if str(name) in columns.wanted]]
        table = pa.Table.from_batches([frame]) if isinstance(frame, pa.RecordBatch) else pa.table(frame)
    except TypeError as error:
        raise KoopsieveError(
            f"A frame must be a pandas or polars DataFrame, or have the Arrow interface. Got {type(frame).__name__}. "
            "Collect or compute a lazy frame first; for arrays use from_arrays, for paths from_file."
        ) from error
    except (pa.ArrowException, ValueError) as error:
        raise KoopsieveError(
            f"{source.capitalize()} could not be read: {error}. Expected columns of real numbers."
        ) from error
    check_columns([*map(str, names), *table.column_names], columns, source)
    return table
