"""Tables as segments of a stream: Parquet files row group by row group, Dask data frames partition by partition."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError, needed
from koopsieve.data.provenance import SourceRows
from koopsieve.data.resampling import typical_step
from koopsieve.data.streaming.blocks import SampleBlock
from koopsieve.data.streaming.origins import Read, SegmentOrigin, compute
from koopsieve.io.reading.columns import Columns, check_columns
from koopsieve.io.reading.files import WHOLE_FRAME, arrow_frame, as_frame
from koopsieve.io.reading.table import FIRST_ROW, Table, reading_in_words
from koopsieve.io.reading.times import TimeBase

_SCAN_ROWS = 65_536


@dataclass(frozen=True, eq=False)
class TableSegment(ABC):
    """Consecutive rows of a table: what row groups and partitions have in common."""

    source: str
    columns: Columns
    base: TimeBase

    @abstractmethod
    def tables(self, rows: int) -> Iterator[Table]:
        """Yield the rows, at most `rows` at a time."""

    @property
    def episode(self) -> str | None:
        """The file, if each is an episode."""
        return self.source if self.columns.episode is None else None

    def read(self, rows: int) -> Iterator[Read]:
        """Yield the rows, episode by episode."""
        for table in self.tables(rows):
            for run in table.runs(self.base):
                yield Read(
                    run.episode,
                    SampleBlock(run.states, run.inputs, SourceRows.numbered(run.label, run.rows)),
                    run.times,
                )

    def divided(self, borders: Sequence[int]) -> Sequence[Self]:
        """Return the segment as one."""
        return (self,)


@dataclass(frozen=True, eq=False)
class RowGroup(TableSegment):
    """One row group of a Parquet file; `first` is the number of its first row in the file, from 0."""

    group: int
    rows: int
    first: int

    def tables(self, rows: int) -> Iterator[Table]:
        """Yield the rows, decoding no more than needed at a time."""
        from pyarrow import parquet

        row, wanted = FIRST_ROW + self.first, list(self.columns.wanted)
        with reading_in_words(self.source), parquet.ParquetFile(self.source) as file:
            for batch in file.iter_batches(rows, row_groups=[self.group], columns=wanted, use_threads=False):
                yield Table(self.source, arrow_frame(batch, row), self.columns)
                row += batch.num_rows


@dataclass(frozen=True, eq=False)
class Partition(TableSegment):
    """One partition of a Dask data frame."""

    frame: Any
    rows: None = None

    def tables(self, rows: int) -> Iterator[Table]:
        """Compute the partition and yield its rows."""
        frame = as_frame(compute(self.frame[list(self.columns.wanted)]), self.columns, self.source)
        yield from (Table(self.source, frame.iloc[a : a + rows], self.columns) for a in range(0, len(frame), rows))


def parquet_tables(files: Any, columns: Columns, dt: float | None) -> SegmentOrigin:
    """Return the tables of Parquet files, checked for columns, types and the order of rows."""
    needed("pyarrow", "Stream.from_parquet", "parquet")
    return _in_order(_row_groups(_listed(files), columns), columns, dt)


def dask_tables(frame: Any, columns: Columns, dt: float) -> SegmentOrigin:
    """Return the tables of a Dask data frame; nothing is computed."""
    if not hasattr(frame, "get_partition"):
        raise KoopsieveError(
            f"Expected a Dask data frame, got {type(frame).__name__}. Dask arrays go to Stream.from_arrays, files to "
            "Stream.from_parquet, frames in memory to Trajectories.from_frame."
        )
    check_columns(list(frame.columns), columns, WHOLE_FRAME)
    names = [f"partition {i}" for i in range(frame.npartitions)]
    return SegmentOrigin.of(
        [Partition(name, columns, TimeBase(), frame.get_partition(i)) for i, name in enumerate(names)], dt
    )


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
    from pyarrow import parquet

    expected: dict[str, Any] = {}
    tables: list[RowGroup] = []
    for path in paths:
        if not path.exists():
            raise KoopsieveError(f"There is no file {path}. Check the path; the current folder is {Path.cwd()}.")
        with reading_in_words(path), parquet.ParquetFile(path) as file:
            schema, metadata = file.schema_arrow, file.metadata
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
        tables += [
            RowGroup(str(path), columns, TimeBase(), i, *both)
            for i, both in enumerate(zip(counts, starts, strict=False))
        ]
    if sum(table.rows for table in tables) == 0:
        raise KoopsieveError(f"There are no rows in {paths[0]}{' and the other files' if len(paths) > 1 else ''}.")
    return tuple(table for table in tables if table.rows)


def _in_order(groups: Sequence[RowGroup], columns: Columns, dt: float | None) -> SegmentOrigin:
    """Return the origin, after the columns of episodes and times were read once to check the order of the rows."""
    marks = replace(columns, states=(), inputs=())
    base, step = TimeBase(), 1.0
    if columns.time is not None:
        table = next(replace(groups[0], columns=marks).tables(_SCAN_ROWS))
        base = TimeBase.of(table.times())
        step = _median_step(table.elapsed(base), columns.time, groups[0].source)
    segments = [replace(group, base=base) for group in groups]
    found = SegmentOrigin.of(segments, step if dt is None else dt)
    scan = [replace(segment, columns=marks) for segment in segments] if marks.wanted else []
    for piece in replace(found, segments=tuple(scan)).pieces(_SCAN_ROWS):
        for _ in piece:
            pass
    return found


def _median_step(times: FloatArray | None, time: str, source: str) -> float:
    found = np.asarray(times)
    if not (found.size > 1 and typical_step([found]) > 0):
        raise KoopsieveError(f"Time {time!r} does not increase in {source}. Sort the rows, or leave time= out.")
    return typical_step([found])
