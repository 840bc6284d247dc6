"""Everything tabular becomes an Arrow table, and a table becomes episodes: the one way in for frames and files.

Which column plays which part is a `Columns`; nothing here depends on whether the table came from pandas, polars, CSV,
Parquet or named arrays, so a table may as well be one batch of a larger set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data.episodes import Episode, make_episode
from koopsieve.data.reading.columns import episode_codes, numbers, seconds
from koopsieve.data.signals import check_names

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Columns:
    """The names of the columns that hold states and inputs, tell episodes apart, and hold the time."""

    states: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    episode: str | None = None
    time: str | None = None

    @classmethod
    def named(
        cls, states: str | Sequence[str], inputs: str | Sequence[str], episode: str | None, time: str | None
    ) -> Columns:
        """Return the columns as users name them: one name or several."""
        columns = cls(_as_tuple(states), _as_tuple(inputs), episode, time)
        if not columns.states:
            raise KoopsieveError("states must name at least one column. Got none.")
        check_names(columns.states, columns.inputs)
        return columns

    @property
    def marks(self) -> tuple[str, ...]:
        """The columns that place a row: episode and time, as far as given."""
        return tuple(name for name in (self.episode, self.time) if name is not None)

    @property
    def wanted(self) -> tuple[str, ...]:
        """Every column that is needed, once."""
        return tuple(dict.fromkeys((*self.states, *self.inputs, *self.marks)))


def as_table(frame: Any, columns: Columns) -> pa.Table:
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
        raise KoopsieveError(f"The frame could not be read: {error}. Expected columns of real numbers.") from error
    check_columns([*map(str, names), *table.column_names], columns)
    return table


def check_columns(available: Sequence[str], columns: Columns, source: str = "the frame") -> None:
    """Refuse wanted columns that are not there, and say which there are."""
    missing = [name for name in columns.wanted if name not in available]
    if missing:
        there = ", ".join(repr(name) for name in dict.fromkeys(available)) or "none"
        raise KoopsieveError(f"Not in {source}: {', '.join(map(repr, missing))}. The columns there are: {there}.")


def episodes_from_table(table: pa.Table, columns: Columns, source: str = "the frame") -> list[Episode]:
    """Return the episodes of a table, rows in the order they have there.

    Parameters
    ----------
    table : pyarrow.Table
        Has all wanted columns. Null and NaN mark missing samples.
    columns : Columns
        Without an episode column the table is one episode.
    source : str
        How to call the table in messages.
    """
    _check_table(table, columns, source)
    states = _matrix(table, columns.states, source)
    inputs = _matrix(table, columns.inputs, source)
    times = None if columns.time is None else seconds(table.column(columns.time), columns.time, source)
    return [
        make_episode(label, states[a:b], inputs[a:b], None if times is None else times[a:b])
        for label, a, b in _episode_rows(table, columns.episode, source)
    ]


def _matrix(table: pa.Table, names: Sequence[str], source: str) -> FloatArray:
    matrix = np.empty((table.num_rows, len(names)))
    for j, name in enumerate(names):
        matrix[:, j] = numbers(table.column(name), name, source)
    return matrix


def _episode_rows(table: pa.Table, episode: str | None, source: str) -> list[tuple[str, int, int]]:
    """Return label, first row and row after the last of every episode, in order of appearance."""
    if episode is None:
        return [(source, 0, table.num_rows)]
    ids = table.column(episode)
    codes = episode_codes(ids, episode, source)
    starts = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist()]
    rows: dict[int, tuple[str, int, int]] = {}
    for start, stop in zip(starts, [*starts[1:], len(codes)], strict=True):
        label = f"episode {ids[start].as_py()!r}"
        if codes[start] in rows:
            raise KoopsieveError(
                f"The rows of {label} are not together: they end at row {rows[codes[start]][2] - 1} of {source} and go "
                f"on at row {start}. Sort by {episode!r}, keeping the order within each episode, or use other names."
            )
        rows[codes[start]] = (label, start, stop)
    return list(rows.values())


def _check_table(table: pa.Table, columns: Columns, source: str) -> None:
    check_columns(table.column_names, columns, source)
    twice = [name for name in columns.wanted if table.column_names.count(name) > 1]
    if twice:
        raise KoopsieveError(f"{source} has several columns named {twice[0]!r}. Give every column its own name.")
    if table.num_rows == 0:
        raise KoopsieveError(f"There are no rows in {source}. Expected at least two samples.")


def _as_tuple(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
