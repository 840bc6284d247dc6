"""Tables to stream: Parquet files row group by row group, Dask data frames partition by partition."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data.clock import Clock
from koopsieve.data.reading.arrow import needed_for, table_of
from koopsieve.data.reading.columns import clock_of, seconds
from koopsieve.data.reading.frames import as_table
from koopsieve.data.reading.table import Table
from koopsieve.data.reading.tables import Columns, check_columns
from koopsieve.data.streaming.lazy import compute
from koopsieve.data.streaming.tables import Tables

_SCAN_ROWS = 65_536


@dataclass(frozen=True)
class RowGroup:
    """One row group of a Parquet file."""

    source: str
    group: int
    rows: int
    first: int

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[Table]:
        """Yield the rows, decoding no more than needed at a time."""
        import pyarrow as pa
        from pyarrow import parquet

        try:
            with parquet.ParquetFile(self.source) as file:
                yield from map(
                    table_of, file.iter_batches(rows, row_groups=[self.group], columns=list(columns), use_threads=False)
                )
        except (pa.ArrowException, OSError) as error:
            raise KoopsieveError(f"{self.source} could not be read: {error}. Check that it is whole.") from error


@dataclass(frozen=True, eq=False)
class Partition:
    """One partition of a Dask data frame."""

    source: str
    frame: Any
    rows: None = None
    first: int = 0

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[Table]:
        """Compute the partition and yield its rows."""
        frame = compute(self.frame[list(columns)])
        marks = Columns(tuple(columns))
        yield from (as_table(frame.iloc[a : a + rows], marks, self.source) for a in range(0, len(frame), rows))


def parquet_tables(files: Any, columns: Columns, dt: float | None) -> Tables:
    """Return the tables of Parquet files, checked for columns, types and the order of rows."""
    needed_for("Stream.from_parquet")
    tables = _row_groups(_listed(files), columns)
    return _in_order(tables, columns, dt)


def dask_tables(frame: Any, columns: Columns, dt: float) -> Tables:
    """Return the tables of a Dask data frame; nothing is computed."""
    if not hasattr(frame, "get_partition"):
        raise KoopsieveError(
            f"Expected a Dask data frame, got {type(frame).__name__}. Dask arrays go to Stream.from_arrays, files to "
            "Stream.from_parquet, frames in memory to Trajectories.from_frame."
        )
    check_columns(list(frame.columns), columns)
    parts = tuple(Partition(f"partition {i}", frame.get_partition(i)) for i in range(frame.npartitions))
    return Tables(parts, columns, dt, Clock(), 0, len(parts))


def _listed(files: Any) -> list[Path]:
    several = getattr(files, "files", files)  # a pyarrow Dataset knows its files
    paths = [Path(path) for path in ([several] if isinstance(several, str | PathLike) else several)]
    found = [file for path in paths for file in (_inside(path) if path.is_dir() else [path])]
    if not found:
        raise KoopsieveError(f"There are no Parquet files in {', '.join(map(str, paths)) or 'an empty list'}.")
    return found


def _inside(folder: Path) -> list[Path]:
    files = (path for path in folder.rglob("*.parquet") if not path.name.startswith((".", "_")))
    return sorted(
        files, key=lambda path: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(path))]
    )


def _row_groups(paths: Sequence[Path], columns: Columns) -> tuple[RowGroup, ...]:
    import pyarrow as pa
    from pyarrow import parquet

    expected: dict[str, Any] = {}
    tables: list[RowGroup] = []
    for path in paths:
        try:
            with parquet.ParquetFile(path) as file:
                schema, metadata = file.schema_arrow, file.metadata
        except (pa.ArrowException, OSError) as error:
            raise KoopsieveError(
                f"{path} could not be read as Parquet: {error}. Check the path and the file."
            ) from error
        check_columns(schema.names, columns, str(path))
        for name in columns.wanted:
            kind = schema.field(name).type
            if expected.setdefault(name, kind) != kind:
                raise KoopsieveError(
                    f"Column {name!r} has another type in {path} than in the files before it. Expected "
                    f"{expected[name]} as in {paths[0]}, got {kind}. Write all files with one schema."
                )
        counts = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        starts = accumulate(counts, initial=0)
        tables += [RowGroup(str(path), i, *both) for i, both in enumerate(zip(counts, starts, strict=False))]
    if sum(table.rows for table in tables) == 0:
        raise KoopsieveError(f"There are no rows in {paths[0]}{' and the other files' if len(paths) > 1 else ''}.")
    return tuple(table for table in tables if table.rows)


def _in_order(tables: tuple[RowGroup, ...], columns: Columns, dt: float | None) -> Tables:
    marks = Columns((), (), columns.episode, columns.time)
    clock, step = Clock(), 1.0
    if columns.time is not None:
        batch = next(tables[0].batches(marks.wanted, _SCAN_ROWS))
        clock = clock_of(batch, columns.time)
        step = _median_step(seconds(batch, columns.time, clock, tables[0].source), columns.time, tables[0].source)
    found = Tables(tables, columns, step if dt is None else dt, clock, 0, len(tables))
    for piece in replace(found, columns=marks).pieces(_SCAN_ROWS) if marks.wanted else ():
        for _ in piece:
            pass
    return found


def _median_step(times: FloatArray, time: str, source: str) -> float:
    steps = np.diff(times)
    if not (steps.size and np.median(steps) > 0):
        raise KoopsieveError(f"Time {time!r} does not increase in {source}. Sort the rows, or leave time= out.")
    return float(np.median(steps))
