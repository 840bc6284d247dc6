"""Everything tabular becomes a table of arrays, and a table becomes episodes: the one way in for frames and files.

Which column plays which part is a `Columns`; nothing here depends on whether the table came from pandas, polars, CSV,
Parquet or named arrays, so a table may as well be one batch of a larger set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from koopsieve._types import FloatArray, KoopsieveError, is_several
from koopsieve.data.clock import Clock
from koopsieve.data.episodes import Episode, make_episode
from koopsieve.data.reading.columns import clock_of, episode_runs, matrix, seconds
from koopsieve.data.reading.table import Table
from koopsieve.data.signals import check_names

WHOLE_FRAME = "the frame"  # how a single frame is called


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
        columns = cls(_as_tuple("states", states), _as_tuple("inputs", inputs), episode, time)
        for what, name in (("episode", episode), ("time", time)):
            if name is not None and (not isinstance(name, str) or not name):
                raise KoopsieveError(f"{what} must be the name of a column. Got {str(name)[:80]!r}.")
        if not columns.states:
            raise KoopsieveError("states must name at least one column. Got none.")
        check_names(columns.states, columns.inputs)
        return columns

    @property
    def samples(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns of states and those of inputs."""
        return self.states, self.inputs

    @property
    def marks(self) -> tuple[str, ...]:
        """The columns that place a row: episode and time, as far as given."""
        return tuple(name for name in (self.episode, self.time) if name is not None)

    @property
    def wanted(self) -> tuple[str, ...]:
        """Every column that is needed, once."""
        return tuple(dict.fromkeys((*self.states, *self.inputs, *self.marks)))


def check_columns(available: Sequence[str], columns: Columns, source: str = WHOLE_FRAME) -> None:
    """Refuse wanted columns that are not there, and say which there are."""
    missing = [name for name in columns.wanted if name not in available]
    if missing:
        there = ", ".join(repr(name) for name in dict.fromkeys(available)) or "none"
        raise KoopsieveError(f"Not in {source}: {', '.join(map(repr, missing))}. The columns there are: {there}.")


@dataclass(frozen=True, eq=False)
class Loaded:
    """A table with the wanted columns, how to call it in messages, and what is to be told about how it was read."""

    source: str
    table: Table
    columns: Columns
    notes: tuple[str, ...] = ()


def episodes_from_tables(loaded: Sequence[Loaded]) -> list[Episode]:
    """Return the episodes of all tables, in order.

    Without an episode column each table is one episode; with one, no episode may be in two tables.
    """
    first = loaded[0]
    for one in loaded:
        if one.columns != first.columns:
            raise KoopsieveError(
                f"All files must have the same columns. Expected {[*first.columns.wanted]} as in {first.source}, "
                f"got {[*one.columns.wanted]} in {one.source}."
            )
    episodes = [(one.source, _episodes_from_table(one)) for one in loaded]
    if first.columns.episode is None or (len(loaded) == 1 and first.source == WHOLE_FRAME):
        return [episode for _, here in episodes for episode in here]
    return _named_by_source(episodes)


def _episodes_from_table(loaded: Loaded) -> list[Episode]:
    """Return the episodes of a table, rows in the order they have there; null and NaN mark missing samples."""
    table, columns, source = loaded.table, loaded.columns, loaded.source
    _check_table(table, columns, source)
    clock = Clock() if columns.time is None else clock_of(table, columns.time)
    runs = list(runs_of(table, columns, clock, source))
    _refuse_torn(runs, columns.episode, source)
    return [make_episode(run.label, run.states, run.inputs, run.times, run.first, clock, run.episode) for run in runs]


def _named_by_source(found: Sequence[tuple[str, Sequence[Episode]]]) -> list[Episode]:
    """Return all episodes with their table in the label, and refuse one that is in two tables."""
    home: dict[str, str] = {}
    for source, episodes in found:
        for episode in episodes:
            if home.setdefault(episode.label, source) != source:
                raise KoopsieveError(
                    f"{episode.label} is in two files, {home[episode.label]} and {source}. Give every episode a name "
                    "of its own, or leave episode= out so that every file is one episode."
                )
    return [
        replace(episode, label=f"{episode.label} of {source}") for source, episodes in found for episode in episodes
    ]


@dataclass(frozen=True, eq=False)
class Run:
    """Consecutive rows of one episode out of one table; `first` is the number of the first of them there."""

    episode: Any
    label: str
    first: int
    states: FloatArray
    inputs: FloatArray
    times: FloatArray | None


def runs_of(table: Table, columns: Columns, clock: Clock, source: str, first: int = 0) -> Iterator[Run]:
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


def _check_table(table: Table, columns: Columns, source: str) -> None:
    check_columns(table.column_names, columns, source)
    twice = [name for name in columns.wanted if table.column_names.count(name) > 1]
    if twice:
        raise KoopsieveError(f"{source} has several columns named {twice[0]!r}. Give every column its own name.")
    if table.num_rows == 0:
        raise KoopsieveError(f"There are no rows in {source}. Expected at least two samples.")


def _as_tuple(what: str, names: str | Sequence[str]) -> tuple[str, ...]:
    if not isinstance(names, str) and not is_several(names):
        raise KoopsieveError(f"{what} must name columns: one name or a list of them. Got {str(names)[:80]}.")
    return (names,) if isinstance(names, str) else tuple(names)
