"""Everything tabular becomes an Arrow table, and a table becomes episodes: the one way in for frames and files.

Which column plays which part is a `Columns`; nothing here depends on whether the table came from pandas, polars, CSV,
Parquet or named arrays, so a table may as well be one batch of a larger set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data.clock import Clock
from koopsieve.data.episodes import Episode, make_episode
from koopsieve.data.reading.columns import clock_of, episode_runs, matrix, seconds
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
    clock = Clock() if columns.time is None else clock_of(table, columns.time)
    runs = list(runs_of(table, columns, clock, source))
    _refuse_torn(runs, columns.episode, source)
    return [make_episode(run.label, run.states, run.inputs, run.times, clock) for run in runs]


@dataclass(frozen=True, eq=False)
class Run:
    """Consecutive rows of one episode out of one table; `first` is the number of the first of them there."""

    episode: Any
    label: str
    first: int
    states: FloatArray
    inputs: FloatArray
    times: FloatArray | None


def runs_of(
    table: pa.Table | pa.RecordBatch, columns: Columns, clock: Clock, source: str, first: int = 0
) -> Iterator[Run]:
    """Yield the rows of a table, or of one batch of a larger one that starts at row `first`, episode by episode."""
    states, inputs = (matrix(table, names, source) for names in (columns.states, columns.inputs))
    times = None if columns.time is None else seconds(table, columns.time, clock, source, first)
    if columns.episode is None:
        parts: Iterable[tuple[Any, int, int]] = [(source, 0, table.num_rows)]
    else:
        parts = episode_runs(table, columns.episode, source, first)
    for episode, a, b in parts:
        label = source if columns.episode is None else f"episode {episode!r}"
        yield Run(episode, label, first + a, states[a:b], inputs[a:b], None if times is None else times[a:b])


def _refuse_torn(runs: Sequence[Run], episode: str | None, source: str) -> None:
    """Refuse an episode whose rows stand in two places."""
    last: dict[Any, Run] = {}
    for run in runs:
        if run.episode in last:
            end = last[run.episode].first + len(last[run.episode].states) - 1
            raise KoopsieveError(
                f"The rows of {run.label} are not together: they end at row {end} of {source} and go on at row "
                f"{run.first}. Sort by {episode!r}, keeping the order within each episode, or use other names."
            )
        last[run.episode] = run


def _check_table(table: pa.Table, columns: Columns, source: str) -> None:
    check_columns(table.column_names, columns, source)
    twice = [name for name in columns.wanted if table.column_names.count(name) > 1]
    if twice:
        raise KoopsieveError(f"{source} has several columns named {twice[0]!r}. Give every column its own name.")
    if table.num_rows == 0:
        raise KoopsieveError(f"There are no rows in {source}. Expected at least two samples.")


def _as_tuple(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
