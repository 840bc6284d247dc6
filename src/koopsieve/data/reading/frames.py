"""Frames: pandas, polars, a mapping or anything with the Arrow interface becomes a table; several, several episodes.

pandas and polars are read through NumPy, so they need no Arrow. Only columns that are asked for are converted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from koopsieve._types import KoopsieveError
from koopsieve.data.reading.arrow import needed_for, table_of
from koopsieve.data.reading.objects import array_column, object_column
from koopsieve.data.reading.table import Column, Table
from koopsieve.data.reading.tables import WHOLE_FRAME, Columns, Loaded, check_columns

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


def as_table(frame: Any, columns: Columns, source: str) -> Table:
    """Return the wanted columns of a pandas or polars frame, a mapping, or anything with the Arrow interface."""
    if hasattr(frame, "iloc") and hasattr(frame, "columns") and not hasattr(frame, "__dask_graph__"):
        return _wanted(_pandas_series(frame), _pandas_column, columns, source)
    if hasattr(frame, "get_columns"):
        return _wanted([(series.name, series) for series in frame.get_columns()], _polars_column, columns, source)
    if isinstance(frame, Mapping):
        return _wanted(frame.items(), _mapped_column, columns, source)
    if not hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "collect"):
        raise KoopsieveError(
            f"A frame must be a pandas or polars DataFrame, or have the Arrow interface. Got {type(frame).__name__}. "
            "Collect or compute a lazy frame first; for arrays use from_arrays, for paths from_file."
        )
    return _arrow_table(frame, columns, source)


def _wanted(pairs: Iterable[tuple[Any, Any]], convert: Any, columns: Columns, source: str) -> Table:
    """Convert the columns that are asked for; any other need not be convertible."""
    named = [(str(name), values) for name, values in pairs]
    check_columns([name for name, _ in named], columns, source)
    table = tuple((name, convert(values)) for name, values in named if name in columns.wanted)
    lengths = {name: len(column.values) for name, column in table}
    if len(set(lengths.values())) > 1:
        raise KoopsieveError(f"All columns must have the same number of rows. Got {lengths} in {source}.")
    return Table(table, next(iter(lengths.values())))


def _pandas_series(frame: Any) -> list[tuple[Any, Any]]:
    """Return the columns by place, as names may occur twice, and the levels of the index that have a name."""
    levels = [name for name in frame.index.names if name is not None and name not in frame.columns]
    index = [(name, frame.index.get_level_values(name).to_series()) for name in levels]
    return [(name, frame.iloc[:, i]) for i, name in enumerate(frame.columns)] + index


def _pandas_column(series: Any) -> Column:
    dtype = series.dtype
    if hasattr(series, "cat"):
        return Column(series.cat.codes.to_numpy().astype(np.intp), tuple(series.cat.categories.tolist()))
    if isinstance(dtype, np.dtype) and dtype.kind != "O":
        return array_column(series.to_numpy())
    missing = series.isna().to_numpy()
    if dtype.kind in "iufb":
        exact = None if missing.any() else {"i": np.int64, "u": np.uint64, "b": np.bool_}.get(dtype.kind)
        values = series.to_numpy(dtype=float, na_value=np.nan) if exact is None else series.to_numpy(dtype=exact)
        return array_column(values)
    if dtype.kind == "M":
        told = getattr(dtype, "pyarrow_dtype", dtype)
        return array_column(series.to_numpy(dtype=f"M8[{told.unit}]"), zoned=told.tz is not None)
    values = series.to_numpy(dtype=object)
    return object_column([None if gone else value for value, gone in zip(values.tolist(), missing, strict=True)])


def _polars_column(series: Any) -> Column:
    if series.dtype.is_numeric() and not series.dtype.is_decimal():
        return array_column(series.to_numpy())
    if series.dtype.is_temporal() and not str(series.dtype).startswith("Time"):
        return array_column(series.to_numpy(), zoned=bool(getattr(series.dtype, "time_zone", None)))
    return object_column(series.to_list())


def _mapped_column(values: Any) -> Column:
    array = np.asarray(values) if hasattr(values, "dtype") else np.zeros(0, dtype=object)
    if array.ndim != 1:
        raise KoopsieveError(f"A column must have one value per row. Got an array of shape {array.shape}.")
    return array_column(array) if hasattr(values, "dtype") else object_column(list(values))


def _arrow_table(frame: Any, columns: Columns, source: str) -> Table:
    pyarrow = needed_for("A frame with the Arrow interface")
    try:
        table = pyarrow.Table.from_batches([frame]) if isinstance(frame, pyarrow.RecordBatch) else pyarrow.table(frame)
    except (TypeError, ValueError, pyarrow.ArrowException) as error:
        raise KoopsieveError(
            f"{source.capitalize()} could not be read: {error}. Expected columns of real numbers."
        ) from error
    check_columns(table.column_names, columns, source)
    return table_of(table.select([i for i, name in enumerate(table.column_names) if name in columns.wanted]))
