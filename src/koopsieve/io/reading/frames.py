"""Frames: pandas, polars, a mapping or anything with the Arrow interface becomes a table; several, several episodes.

polars is read through NumPy, so it needs no Arrow. Only columns that are asked for are converted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._types import KoopsieveError, needed
from koopsieve.io.reading.columns import Columns, check_columns
from koopsieve.io.reading.table import FIRST_ROW, Table

if TYPE_CHECKING:
    import pandas as pd

WHOLE_FRAME = "the frame"  # how a single frame is called
INDEX = "the index"  # how an index without a name is called


def tables_from_frames(frames: Any, columns: Columns) -> list[Table]:
    """Return the wanted columns of a frame, or of a list of frames.

    An index of dates or durations is the time unless another column is.
    """
    if not isinstance(frames, list | tuple):
        return [_table(frames, columns, WHOLE_FRAME)]
    if not frames:
        raise KoopsieveError("There are no frames. Expected at least one, got an empty list.")
    return [_table(frame, columns, f"frame {i}") for i, frame in enumerate(frames)]


def _table(frame: Any, columns: Columns, source: str) -> Table:
    if columns.time is None and _has_times(frame):
        name = frame.index.name if isinstance(frame.index.name, str) else INDEX
        columns = replace(columns, reading=replace(columns.reading, time=name))
        frame = frame.rename_axis(index=name)
    return Table(source, as_frame(frame, columns, source), columns)


def _has_times(frame: Any) -> bool:
    """Tell whether a pandas frame has an index of dates or durations."""
    kind = getattr(getattr(getattr(frame, "index", None), "dtype", None), "kind", "")
    return kind in "mM" and bool(kind) and hasattr(frame, "rename_axis")


def as_frame(frame: Any, columns: Columns, source: str, first_row: int = FIRST_ROW) -> pd.DataFrame:
    """Return the wanted columns of a pandas or polars frame, a mapping, or anything with the Arrow interface.

    The index holds the numbers of the rows, the first of which is given.
    """
    import pandas as pd

    if hasattr(frame, "iloc") and hasattr(frame, "columns") and not hasattr(frame, "__dask_graph__"):
        found = _wanted(_pandas_columns(frame), lambda series: series.array, columns, source)
    elif hasattr(frame, "get_columns"):
        found = _wanted(((series.name, series) for series in frame.get_columns()), _from_polars, columns, source)
    elif isinstance(frame, Mapping):
        found = _wanted(frame.items(), _from_mapping, columns, source)
    elif hasattr(frame, "__arrow_c_stream__") and not hasattr(frame, "collect"):
        found = _from_arrow(frame, columns, source)
    else:
        raise KoopsieveError(
            f"A frame must be a pandas or polars DataFrame, or have the Arrow interface. Got {type(frame).__name__}. "
            "Collect or compute a lazy frame first; for arrays use from_arrays, for paths from_file."
        )
    rows = len(next(iter(found.values())))
    return pd.DataFrame(found, index=range(first_row, first_row + rows))


def arrow_frame(table: Any, first_row: int = FIRST_ROW) -> pd.DataFrame:
    """Return an Arrow table, or one batch of a larger one, as a pandas frame with the numbers of the rows as index."""
    schema = table.schema
    for i, kind in enumerate(schema.types):
        if hasattr(kind, "value_type") and hasattr(kind, "index_type"):  # pandas has no dictionaries that hold null
            schema = schema.set(i, schema.field(i).with_type(kind.value_type))
    frame = table.cast(schema).to_pandas(date_as_object=False, ignore_metadata=True)
    frame.index = range(first_row, first_row + len(frame))
    return frame


def needed_for(by: str) -> Any:
    """Return pyarrow, or say which command installs it; `by` names what asks for it."""
    return needed("pyarrow", by, "parquet")


def _wanted(pairs: Iterable[tuple[Any, Any]], convert: Any, columns: Columns, source: str) -> dict[str, Any]:
    """Convert the columns that are asked for; any other need not be convertible."""
    named = [(str(name), values) for name, values in pairs]
    check_columns([name for name, _ in named], columns, source)
    found = {name: convert(values) for name, values in named if name in columns.wanted}
    lengths = {name: len(values) for name, values in found.items()}
    if len(set(lengths.values())) > 1:
        raise KoopsieveError(f"All columns must have the same number of rows. Got {lengths} in {source}.")
    return found


def _pandas_columns(frame: Any) -> list[tuple[Any, Any]]:
    """Return the columns by position, as names may occur twice, and the levels of the index that have a name."""
    levels = [name for name in frame.index.names if name is not None and name not in frame.columns]
    index = [(name, frame.index.get_level_values(name).to_series()) for name in levels]
    return [(name, frame.iloc[:, i]) for i, name in enumerate(frame.columns)] + index


def _from_polars(series: Any) -> Any:
    import pandas as pd

    if series.dtype.is_numeric() and not series.dtype.is_decimal():
        return series.to_numpy()
    if series.dtype.is_temporal() and not str(series.dtype).startswith("Time"):
        zoned = getattr(series.dtype, "time_zone", None) is not None
        stamps = pd.Series(series.to_numpy())
        return (stamps.dt.tz_localize("UTC") if zoned else stamps).array
    return np.array([*series.to_list(), None], dtype=object)[:-1]


def _from_mapping(values: Any) -> Any:
    if not hasattr(values, "dtype"):
        return np.array([*values, None], dtype=object)[:-1]
    array = np.asarray(values)
    if array.ndim != 1:
        raise KoopsieveError(f"A column must have one value per row. Got an array of shape {array.shape}.")
    return array


def _from_arrow(frame: Any, columns: Columns, source: str) -> dict[str, Any]:
    pyarrow = needed_for("A frame with the Arrow interface")
    try:
        table = pyarrow.Table.from_batches([frame]) if isinstance(frame, pyarrow.RecordBatch) else pyarrow.table(frame)
        check_columns(table.column_names, columns, source)
        chosen = arrow_frame(table.select(list(columns.wanted)))
    except (TypeError, pyarrow.ArrowException) as error:
        raise KoopsieveError(
            f"{source.capitalize()} could not be read: {error}. Expected columns of real numbers."
        ) from error
    return {name: chosen[name].array for name in columns.wanted}
