"""Episodes as arrays: made of what users bring, checked, chosen and cut.

Whatever the source (arrays, a frame, a file), each episode becomes an `Episode`, so that every later message can name
the row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import (
    BoolArray,
    FloatArray,
    IndexArray,
    KoopsieveError,
    magnitude,
    or_one,
    real_matrix,
    warn_user,
)
from koopsieve.data.provenance import Source, SourceRows
from koopsieve.io.reading.table import EpisodeRows, Table
from koopsieve.io.reading.times import TimeBase

ENOUGH_PAIRS = 100_000  # of samples, to tell how fast signals change


@dataclass(frozen=True, eq=False)
class Episode:
    """One episode on its way in."""

    states: FloatArray  # (T, n)
    inputs: FloatArray  # (T-1, l)
    source: Source  # where it comes from, and its times, if known
    broken: BoolArray | None = None  # (T-1,): marks transitions over which samples are missing

    @property
    def times(self) -> FloatArray | None:
        """When the samples were taken, if known."""
        return self.source.times

    @property
    def label(self) -> str:
        """What messages call it."""
        return self.source.label

    def cut(self, start: int, stop: int) -> Episode:
        """Return samples start … stop−1 as an episode; no transition in it may be broken."""
        return Episode(self.states[start:stop], self.inputs[start : stop - 1], self.source.cut(start, stop))


def make_episode(source: Source, states: Any, inputs: Any = None) -> Episode:
    """Return the checked episode; the last row of inputs as long as the states is dropped, as nothing follows it."""
    label = source.label
    x = real_matrix(f"The states of {label}", states)
    if x.shape[1] == 0:
        raise KoopsieveError(f"The states of {label} have no columns. Expected (samples, columns), got {x.shape}.")
    if len(x) < 2:
        raise KoopsieveError(
            f"An episode needs at least two samples, one transition. Got states of shape {x.shape} in {label}. "
            "Rows are samples: transpose the array if they are its columns, or leave the episode out."
        )
    u = np.zeros((len(x) - 1, 0)) if inputs is None else real_matrix(f"The inputs of {label}", inputs)
    if len(u) not in (len(x) - 1, len(x)):
        raise KoopsieveError(
            f"inputs must have one row fewer than states. Expected {(len(x) - 1, u.shape[1])}, got {u.shape}. "
            f"This is {label}, whose states have shape {x.shape}."
        )
    return Episode(x, u[: len(x) - 1], source)


def episodes_from_tables(tables: Sequence[Table]) -> list[Episode]:
    """Return the episodes of all tables, in order.

    Without an episode column each table is one episode; with one, no episode may be in two tables.
    """
    first, home = tables[0], dict[Any, str]()
    for table in tables:
        if table.columns != first.columns:
            raise KoopsieveError(
                f"All files must have the same columns. Expected {[*first.columns.wanted]} as in {first.source}, "
                f"got {[*table.columns.wanted]} in {table.source}."
            )
    found = [(table, _episodes_from_table(table)) for table in tables]
    for table, episodes in found if first.columns.episode is not None else ():
        for name in (episode.source.name for episode in episodes):
            if home.setdefault(name, table.source) != table.source:
                raise KoopsieveError(
                    f"Episode {name!r} is in two files, {home[name]} and {table.source}. Give every episode a name of "
                    "its own, or leave episode= out so that every file is one episode."
                )
    return [episode for _, episodes in found for episode in episodes]


def _episodes_from_table(table: Table) -> list[Episode]:
    """Return the episodes of a table, rows in the order they have there; null and NaN mark missing samples."""
    if len(table.frame) == 0:
        raise KoopsieveError(f"There are no rows in {table.source}. Expected at least two samples.")
    times = table.times()
    base = TimeBase() if times is None else TimeBase.of(times)
    last: dict[Any, EpisodeRows] = {}
    episodes = []
    for run in table.runs(base):
        if run.episode in last:
            raise KoopsieveError(
                f"The rows of episode {run.episode!r} are not together: they end at row {last[run.episode].rows[-1]} "
                f"of {table.source} and go on at row {run.rows[0]}. Sort by {table.columns.episode!r}, keeping the "
                "order within each episode, or use other names."
            )
        last[run.episode] = run
        rows = SourceRows.numbered(run.label, run.rows)
        source = Source(run.label, run.first, run.times, base, run.episode, rows)
        episodes.append(make_episode(source, run.states, run.inputs))
    return episodes


def episodes_from_arrays(states: Any, inputs: Any = None) -> list[Episode]:
    """Return the episodes in an array or a list of arrays, with their inputs if there are any."""
    if not _is_list_of_episodes(states):
        alone = inputs[0] if _is_list_of_episodes(inputs) and len(inputs) == 1 else inputs
        return [make_episode(Source("episode 0"), states, alone)]
    _refuse_list_of_samples(states)
    if inputs is None:
        return [make_episode(Source(f"episode {i}"), x) for i, x in enumerate(states)]
    if len(states) == 1 and not _is_list_of_episodes(inputs):
        inputs = [inputs]
    if not isinstance(inputs, list | tuple) or len(inputs) != len(states):
        came = f"a list of {len(inputs)}" if isinstance(inputs, list | tuple) else f"one {type(inputs).__name__}"
        raise KoopsieveError(
            f"inputs must be a list with one array per episode, as states are. Expected {len(states)} arrays, "
            f"got {came}."
        )
    return [make_episode(Source(f"episode {i}"), x, u) for i, (x, u) in enumerate(zip(states, inputs, strict=True))]


def check_alike(episodes: Sequence[Episode]) -> None:
    """Refuse no episodes at all, and episodes with different numbers of columns."""
    if not episodes:
        raise KoopsieveError("There are no episodes. Expected at least one array of states, got an empty list.")
    first = episodes[0]
    for episode in episodes[1:]:
        for what, mine, theirs in (("state", episode.states, first.states), ("input", episode.inputs, first.inputs)):
            if mine.shape[1] != theirs.shape[1]:
                raise KoopsieveError(
                    f"All episodes must have the same {what} columns. Expected {theirs.shape[1]} as in {first.label}, "
                    f"got {mine.shape[1]} in {episode.label}."
                )


def _is_list_of_episodes(values: Any) -> bool:
    """Tell a list of arrays from one array written as nested lists."""
    if not isinstance(values, list | tuple):
        return False
    return not values or any(_is_array(v) or (isinstance(v, list | tuple) and _holds_rows(v)) for v in values)


def _is_array(value: Any) -> bool:
    return hasattr(value, "__array__") and np.ndim(value) > 0


def _holds_rows(values: Sequence[Any]) -> bool:
    return len(values) > 0 and (isinstance(values[0], list | tuple) or _is_array(values[0]))


def _refuse_list_of_samples(states: Sequence[Any]) -> None:
    """Refuse what looks like samples collected in a loop rather than like episodes of one column each."""
    shapes = {np.shape(x) if _is_array(x) else None for x in states}
    shape = shapes.pop() if len(shapes) == 1 else None
    if shape is not None and len(shape) == 1 and len(states) > max(shape[0], 1):
        raise KoopsieveError(
            f"states is a list of {len(states)} arrays of shape {shape}: {len(states)} samples, or as many episodes of "
            "one column? Pass np.stack(states) for one trajectory, or arrays of shape (samples, 1) for episodes."
        )


def check_form(states: Sequence[FloatArray], inputs: Sequence[FloatArray], n_states: int, n_inputs: int) -> None:
    """Refuse arrays whose shapes do not belong together."""
    expected = [((len(x), n_states), (len(x) - 1, n_inputs)) for x in states]
    came = [(np.shape(x), np.shape(u)) for x, u in zip(states, inputs, strict=False)]
    if not expected or expected != came or len(inputs) != len(states):
        raise KoopsieveError(
            f"Trajectories takes as many state arrays (T, {n_states}) as input arrays (T-1, {n_inputs}), at least one "
            f"each. Got states {[np.shape(x) for x in states]} and inputs {[np.shape(u) for u in inputs]}. "
            "Use Trajectories.from_arrays, which says what is wrong."
        )


def warn_of_oddities(
    states: Sequence[FloatArray], inputs: Sequence[FloatArray], names: tuple[Sequence[str], Sequence[str]]
) -> None:
    """Warn of what is allowed but most often a mistake."""
    _warn_of_transposed(states)
    for kind, arrays, named in (("State", states, names[0]), ("Input", inputs, names[1])):
        low, high = (pick([pick(one, axis=0) for one in arrays], axis=0) for pick in (np.min, np.max))
        warn_of_constants(kind, low, high, named)


def warn_of_constants(kind: str, lowest: FloatArray, highest: FloatArray, names: Sequence[str]) -> None:
    """Warn of columns that have one value in all episodes."""
    constant = [repr(name) for name, same in zip(names, highest == lowest, strict=True) if same]
    if constant:
        warn_user(
            f"{kind} columns that never change: {', '.join(constant)}. They are kept, but nothing can be learnt about "
            "how the system depends on them."
        )


def _warn_of_transposed(states: Sequence[FloatArray]) -> None:
    """Warn of more columns than samples, which most often means that an array lies on its side."""
    samples, columns = sum(len(x) for x in states), states[0].shape[1]
    if columns > samples:
        warn_user(
            f"There are {columns} state columns and only {samples} samples. Rows are samples: if the columns are, "
            "transpose the arrays."
        )


def positions(episodes: int | Iterable[int], count: int) -> IndexArray:
    """Return the chosen positions among `count` episodes, given as positions or as one flag per episode."""
    given: ArrayLike = episodes if isinstance(episodes, int | np.ndarray) else list(episodes)
    chosen = np.atleast_1d(np.asarray(given))
    if chosen.dtype == bool and chosen.shape == (count,):
        chosen = np.flatnonzero(chosen)
    if chosen.size == 0:
        raise KoopsieveError("No episodes were chosen. Expected at least one position.")
    if chosen.dtype.kind not in "iu" or chosen.ndim != 1 or chosen.min() < -count or chosen.max() >= count:
        raise KoopsieveError(
            f"Episodes are chosen by position, 0 to {count - 1}, or by one flag per episode. Got {chosen.tolist()}."
        )
    return chosen.astype(np.intp)


def usual_length(lengths: Iterable[int], in_shorter: float = 0.5) -> int:
    """Return the length that episodes reach but for the shortest ones, which hold this share of the samples.

    Examples
    --------
    >>> usual_length([10, 200, 300]), usual_length([10, 200, 300], in_shorter=0.01)
    (300, 10)
    """
    ordered = np.sort([*lengths])
    return int(ordered[np.searchsorted(np.cumsum(ordered), in_shorter * ordered.sum())])


def half_life(episodes: Sequence[FloatArray]) -> int:
    """Return after how many samples signals have lost half of their correlation with themselves, mean over signals.

    Then the mean square of what they change by is their variance. Where they never do, it is half the longest episode.

    Examples
    --------
    >>> half_life([np.sin(np.arange(1000) / 100)[:, None]])  # about a sixth of the period
    102
    """
    every, longest, lag = np.concatenate(episodes), max(map(len, episodes)), 1
    unit, stride = magnitude(every), max(len(every) // ENOUGH_PAIRS, 1)
    variance = or_one(np.var(every / unit, axis=0))
    while 2 * lag < longest:
        pairs = ((x[lag::stride], x[:-lag:stride]) for x in episodes if len(x) > 2 * lag)
        changes = np.concatenate([later / unit - now / unit for later, now in pairs])
        if np.mean(np.mean(changes**2, axis=0) / variance) >= 1:
            break
        lag += max(lag // 8, 1)
    return lag


def between(rows: FloatArray, start: int, stop: int) -> FloatArray:
    """Return rows start … stop−1; all of them are the same object."""
    return rows if (start, stop) == (0, len(rows)) else rows[start:stop]


def cut_between(transitions: Sequence[int], fraction: float) -> int:
    """Return how many episodes, of at least two, come nearest to `fraction` of all transitions."""
    share = np.cumsum(transitions) / np.sum(transitions)
    return 1 + int(np.argmin(np.abs(share[:-1] - fraction)))


def cut_within(samples: int, fraction: float, reach: int) -> int:
    """Return the row at which to cut one episode so that either side has a transition after losing `reach` rows."""
    if samples < 4 + reach:
        raise KoopsieveError(
            f"One episode of {samples} samples is too short to be split in two. Expected at least {4 + reach} samples: "
            "two on either side, and those that the delays reach back over."
        )
    return min(max(round(fraction * samples), 2), samples - reach - 2)
