"""Tables one after the other as an origin of pieces: which rows are one episode, in time, and who answers for them.

A table is anything that gives Arrow record batches of the wanted columns. What tells episodes apart, what checks time
and what cuts batches into blocks exists here, once, for files and for Dask data frames.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data.reading.clock import check_steps, times_of
from koopsieve.data.reading.columns import numbers
from koopsieve.data.reading.tables import Columns
from koopsieve.data.streaming.blocks import Block, Piece
from koopsieve.data.streaming.origins import refuse_return

if TYPE_CHECKING:
    import pyarrow as pa


class Table(Protocol):
    """A stretch of consecutive rows that can be read by itself."""

    @property
    def source(self) -> str: ...  # noqa: D102 - how to call it in messages, and its episode where no column says
    @property
    def rows(self) -> int | None: ...  # noqa: D102

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order."""
        ...


@dataclass(frozen=True, eq=False)
class Tables:
    """Tables one after the other, `first` … `stop`−1 of which are answered for.

    Parameters
    ----------
    tables : tuple of Table
        All of them, because context may come from those after `stop`.
    columns : Columns
    dt : float, optional
        The step that `columns.time` must keep.
    origin : int
        What is subtracted from times that are whole numbers or dates, so that none of their digits is lost.
    first, stop, reach : int
        Which tables are answered for, and how many samples of context follow them.
    """

    tables: tuple[Table, ...]
    columns: Columns
    dt: float
    origin: int
    first: int
    stop: int
    reach: int = 0

    @property
    def n_samples(self) -> int | None:
        """Number of rows, if every table knows its own."""
        counts = [table.rows for table in self.tables[self.first : self.stop]]
        return None if None in counts else sum(count or 0 for count in counts)

    def pieces(self, rows: int) -> Iterator[Piece]:
        """Yield one piece per run of rows of the same episode."""
        finished: set[Any] = set()
        for episode, runs in groupby(self._runs(rows), key=lambda run: run.episode):
            refuse_return(episode, finished, "the files")
            finished.add(episode)
            yield Piece(f"episode {episode!r}", self._in_time(runs))

    def parts(self, count: int, reach: int) -> Sequence[Tables]:
        """Divide between tables, as evenly as their row counts allow."""
        weights = [1 if table.rows is None else table.rows for table in self.tables[self.first : self.stop]]
        ends = np.cumsum(weights)
        wanted = ends[-1] * np.arange(1, count + 1) / count
        stops = np.unique(self.first + 1 + np.minimum(np.searchsorted(ends, wanted - 0.5), len(ends) - 1)).tolist()
        return [self._between(a, b, reach) for a, b in zip([self.first, *stops[:-1]], stops, strict=True)]

    def _between(self, first: int, stop: int, reach: int) -> Tables:
        missing, last = reach, stop
        while missing > 0 and last < len(self.tables):  # only tables that can hold context travel to the worker
            missing -= self.tables[last].rows or 0
            last += 1
        return replace(self, tables=self.tables[first:last], first=0, stop=stop - first, reach=reach)

    def _runs(self, rows: int) -> Iterator[Run]:
        last: Any = None
        for table in self.tables[self.first : self.stop]:
            for run in self._read(table, rows):
                last = run.episode
                yield run
        missing = self.reach
        for table in self.tables[self.stop :]:
            for run in self._read(table, rows):
                if missing <= 0 or run.episode != last:
                    return
                yield run.as_context(missing)
                missing -= len(run.states)

    def _read(self, table: Table, rows: int) -> Iterator[Run]:
        for batch in table.batches(self.columns.wanted, rows):
            states, inputs = (
                _matrix(batch, names, table.source) for names in (self.columns.states, self.columns.inputs)
            )
            time = self.columns.time
            times = None if time is None else times_of(batch, time, self.origin, table.source)
            for episode, a, b in _episodes(batch, self.columns.episode, table.source):
                yield Run(episode, table.source, states[a:b], inputs[a:b], None if times is None else times[a:b])

    def _in_time(self, runs: Iterator[Run]) -> Iterator[Block]:
        before: Run | None = None
        for run in runs:
            if run.times is not None:
                check_steps(None if before is None else before.times, run.times, self.dt, _place(before, run))
            before = run
            yield Block(run.states, run.inputs, run.answered)


@dataclass(frozen=True, eq=False)
class Run:
    """Consecutive rows of one episode out of one table."""

    episode: Any
    source: str
    states: FloatArray
    inputs: FloatArray
    times: FloatArray | None
    answered: bool = True

    def as_context(self, rows: int) -> Run:
        """Return the first rows, not answered for."""
        times = None if self.times is None else self.times[:rows]
        return replace(self, states=self.states[:rows], inputs=self.inputs[:rows], times=times, answered=False)


def _matrix(batch: pa.RecordBatch, names: Sequence[str], source: str) -> FloatArray:
    import pyarrow as pa

    matrix = np.empty((batch.num_rows, len(names)))
    for j, name in enumerate(names):
        matrix[:, j] = numbers(pa.chunked_array([batch.column(name)]), name, source)
    return matrix


def _episodes(batch: pa.RecordBatch, episode: str | None, source: str) -> Iterator[tuple[Any, int, int]]:
    """Yield episode, first row and row after the last of every run of rows."""
    if episode is None:
        yield source, 0, batch.num_rows
        return
    ids = batch.column(episode)
    if ids.null_count:
        raise KoopsieveError(f"Column {episode!r} of {source} must say for every row which episode it is in.")
    codes = ids.dictionary_encode() if not hasattr(ids, "indices") else ids
    starts = [0, *(np.flatnonzero(np.diff(codes.indices.to_numpy(zero_copy_only=False))) + 1).tolist(), batch.num_rows]
    for a, b in pairwise(starts):
        yield ids[a].as_py(), a, b


def _place(before: Run | None, run: Run) -> str:
    if before is None or before.source == run.source:
        return f"in {run.source}, episode {run.episode!r}"
    return f"from the end of {before.source} to the start of {run.source}, episode {run.episode!r}"
