"""Tables one after the other as an origin of pieces: which rows are one episode, in time, and who answers for them.

A stretch is anything that gives its rows, some at a time, as tables of the wanted columns: a row group of a file, a
partition of a Dask data frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Protocol

import numpy as np

from koopsieve._types import KoopsieveError
from koopsieve.data.clock import Clock
from koopsieve.data.reading.table import Table
from koopsieve.data.reading.tables import Columns, Run, runs_of
from koopsieve.data.repair.times import uneven_steps
from koopsieve.data.streaming.blocks import Block, Piece, WholeEpisode
from koopsieve.data.streaming.chunks import refuse_return
from koopsieve.data.streaming.places import Places


class Stretch(Protocol):
    """A stretch of consecutive rows that can be read by itself."""

    @property
    def source(self) -> str: ...  # noqa: D102 - how to call it in messages, and its episode where no column says
    @property
    def rows(self) -> int | None: ...  # noqa: D102
    @property
    def first(self) -> int: ...  # noqa: D102 - number of its first row in the source

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[Table]:
        """Yield the rows in order."""
        ...


@dataclass(frozen=True, eq=False)
class Tables:
    """Tables one after the other, `first` … `stop`−1 of which are answered for.

    Parameters
    ----------
    tables : tuple of Stretch
        All of them, because context may come from those after `stop`.
    columns : Columns
    dt : float
        The step that `columns.time` must keep.
    clock : Clock
        How that column tells time.
    first, stop, reach : int
        Which tables are answered for, and how many samples of context follow them.
    """

    tables: tuple[Stretch, ...]
    columns: Columns
    dt: float
    clock: Clock
    first: int
    stop: int
    reach: int = 0

    @property
    def n_samples(self) -> int | None:
        """Number of rows, if every table knows its own."""
        counts = [table.rows for table in self.tables[self.first : self.stop]]
        return None if None in counts else sum(count or 0 for count in counts)

    def episodes(self) -> Sequence[WholeEpisode] | None:
        """Return every file, if each is an episode and knows its rows."""
        mine = range(self.first, self.stop)
        if self.columns.episode is not None or any(self.tables[i].rows is None for i in mine):
            return None
        groups = [list(group) for _, group in groupby(mine, key=lambda i: self.tables[i].source)]
        rows = [sum(self.tables[i].rows or 0 for i in group) for group in groups]
        parts = [self._between(group[0], group[-1] + 1, 0) for group in groups]
        return [WholeEpisode(count, part) for count, part in zip(rows, parts, strict=True)]

    def pieces(self, rows: int) -> Iterator[Piece]:
        """Yield one piece per run of rows of the same episode."""
        finished: set[Any] = set()
        for episode, rows_of_episode in groupby(self._rows(rows), key=lambda read: read.run.episode):
            refuse_return(episode, finished, "the files")
            finished.add(episode)
            yield self._in_time(rows_of_episode)

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

    def _rows(self, rows: int) -> Iterator[Read]:
        last: Any = None
        for table in self.tables[self.first : self.stop]:
            for read in self._read(table, rows):
                last = read.run.episode
                yield read
        missing = self.reach
        for table in self.tables[self.stop :]:
            for read in self._read(table, rows):
                if missing <= 0 or read.run.episode != last:
                    return
                yield read.as_context(missing)
                missing -= len(read.run.states)

    def _read(self, table: Stretch, rows: int) -> Iterator[Read]:
        passed = table.first
        for batch in table.batches(self.columns.wanted, rows):
            if batch.num_rows:
                for run in runs_of(batch, self.columns, self.clock, table.source, passed):
                    yield Read(run, table.source)
            passed += batch.num_rows

    def _in_time(self, reads: Iterator[Read]) -> Iterator[Block]:
        before: Read | None = None
        for read in reads:
            if read.run.times is not None:
                _check_steps(before, read, self.dt)
            before = read
            yield read.block


@dataclass(frozen=True, eq=False)
class Read:
    """Consecutive rows of one episode, from which source, and whether they are answered for."""

    run: Run
    source: str
    answered: bool = True

    @property
    def block(self) -> Block:
        """The rows as a block, placed by their number in the source."""
        label = self.source if self.run.label == self.source else f"{self.source}, {self.run.label}"
        places = Places.of(label, self.run.first, len(self.run.states))
        return Block(self.run.states, self.run.inputs, places, self.answered)

    def as_context(self, rows: int) -> Read:
        """Return the first rows, not answered for."""
        run = self.run
        times = None if run.times is None else run.times[:rows]
        return replace(
            self, run=replace(run, states=run.states[:rows], inputs=run.inputs[:rows], times=times), answered=False
        )


def _check_steps(before: Read | None, read: Read, dt: float) -> None:
    """Refuse a step that is not `dt`, the one from the end of the rows before included."""
    times = read.run.times
    if times is None:
        return
    joined = times if before is None or before.run.times is None else np.concatenate([before.run.times[-1:], times])
    uneven = uneven_steps(joined, dt)
    if uneven.any():
        row = int(np.argmax(uneven))
        raise KoopsieveError(
            f"The rows of an episode must follow one another in steps of {dt:.6g}. Expected time "
            f"{joined[row] + dt:.10g}, got {joined[row + 1]:.10g} {_between_words(before, read)}. Put rows and files "
            "in the order they were recorded, or start a new episode where samples are missing."
        )


def _between_words(before: Read | None, read: Read) -> str:
    if before is None or before.source == read.source:
        return f"in {read.source}, episode {read.run.episode!r}"
    return f"from the end of {before.source} to the start of {read.source}, episode {read.run.episode!r}"
