"""Stage one: measured trajectories, checked once at the border.

In come arrays, lists of arrays, frames or files; out comes one frozen `Trajectories`. Nothing after it checks shapes
or finiteness again. In the paper's notation (Section 3) an episode is x[0..T-1], u[0..T-2].
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from koopsieve._types import SHARE, FloatArray, KoopsieveError, real_number
from koopsieve.data.episodes import (
    between,
    check_alike,
    check_form,
    cut_between,
    cut_within,
    episodes_from_arrays,
    episodes_from_tables,
    half_life,
    positions,
)
from koopsieve.data.provenance import Provenance
from koopsieve.data.repair import repaired
from koopsieve.data.signals import Dataset, Signals, complete_names
from koopsieve.io.reading.columns import Columns, Names, Reading, check_dt
from koopsieve.io.reading.table import AnyPath, Table


@dataclass(frozen=True, eq=False, repr=False)
class Trajectories(Dataset):
    """One or many episodes of states and inputs; no transition crosses from one episode to the next.

    Build it with `from_arrays`, `from_frame` or `from_file`, which check the samples; the constructor checks the form.
    If anything cannot be used they raise `KoopsieveError`, whose message says where and what to do.

    Parameters
    ----------
    states : tuple of array, each of shape (T, n)
        One per episode, rows are samples. Read-only.
    inputs : tuple of array, each of shape (T-1, l)
        Row k is what acts between sample k and k+1. Without inputs l is 0. Read-only.
    signals : Signals
        Names, sample time, and which delays the state holds: none, until they are embedded.
    provenance : Provenance, optional
        What was done to the data on the way in, with counts, and where every episode comes from.
    """

    states: tuple[FloatArray, ...]
    inputs: tuple[FloatArray, ...]
    signals: Signals
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        check_form(self.states, self.inputs, self.n_states, self.n_inputs)
        if len(self.provenance.sources) != len(self.states):  # built of other arrays than those that were read
            object.__setattr__(self, "provenance", Provenance.of_arrays(map(len, self.states)))

    @classmethod
    def from_arrays(
        cls,
        states: Any,
        inputs: Any = None,
        *,
        dt: float = 1.0,
        state_names: str | Sequence[str] | None = None,
        input_names: str | Sequence[str] | None = None,
        gaps: str = "raise",
        max_gap: int | None = None,
        outliers: str = "keep",
    ) -> Trajectories:
        """Build from an array, or from a list of arrays with one per episode.

        Arrays that already are float64 and C-contiguous are not copied, so do not write to them afterwards.

        Parameters
        ----------
        states : array of shape (T, n), or list of them
            Rows are samples. One dimension is taken as one column.
        inputs : array of shape (T-1, l), or list of them, optional
            Inputs of shape (T, l) are taken too; their last row, which nothing follows, is dropped.
        dt : float
            Sample time.
        state_names, input_names : sequence of str, optional
            By default x1, x2, … and u1, u2, … .
        gaps, max_gap
            What to do with missing samples (NaN, masked): as in `from_frame`.
        outliers : {"keep", "drop", "refuse"}
            What to do with single samples far outside the others: as in `from_frame`.

        Examples
        --------
        >>> x = np.arange(10.0).reshape(5, 2)
        >>> Trajectories.from_arrays([x, x[:3]], [x[:, :1], x[:3, :1]], dt=0.1)
        Trajectories(episodes 2, samples 8, states x1, x2, inputs u1, dt 0.1)
        """
        episodes = episodes_from_arrays(states, inputs)
        check_alike(episodes)
        named = (
            complete_names(state_names, episodes[0].states.shape[1], "state", "x"),
            complete_names(input_names, episodes[0].inputs.shape[1], "input", "u"),
        )
        check_dt(dt)
        return cls(*repaired(episodes, named, dt, Reading(gaps=gaps, max_gap=max_gap, outliers=outliers)))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        states: Names,
        inputs: Names = (),
        *,
        episode: str | None = None,
        time: str | None = None,
        dt: float | None = None,
        gaps: str = "raise",
        max_gap: int | None = None,
        resample: float | None = None,
        outliers: str = "keep",
    ) -> Trajectories:
        """Build from a pandas or polars frame, or anything else with the Arrow interface, one row per sample.

        Parameters
        ----------
        frame : DataFrame, or list of them
            Rows of an episode stand together, in order of time. Null and NaN are missing samples. Without `episode`
            each frame of a list is one episode.
        states, inputs : str, sequence of str, or mapping from name to column
            Names of columns; {"speed": "Drehzahl Last [1/s]"} calls a column speed, with a unit. The input in a row
            acts from its sample to the next; the last of an episode is not used.
        episode : str, optional
            The column that tells episodes apart, numbers or text. Without it all rows are one episode.
        time : str, optional
            The column of times, numbers or dates, evenly spaced within each episode; by default the index, if it holds
            dates. Unless gaps="raise" an episode is also cut where time jumps over missing rows.
        dt : float, optional
            Sample time; by default the median step of `time` (seconds for dates), or 1.
        gaps : {"raise", "split", "interpolate"}
            What to do with missing samples: refuse them, cut the episode there, or fill in gaps of up to `max_gap`
            samples (outputs interpolated, inputs held) and cut at the others.
        max_gap : int, optional
            The longest gap to fill in.
        resample : float, optional
            Put the samples on an even time grid with this step: for times that jitter, and for columns of several
            rates, of which the slower ones are missing in most rows. Outputs are interpolated, inputs held.
        outliers : {"keep", "drop", "refuse"}
            What to do with up to three samples in a row that lie more than ten half-widths of the middle 98 % of their
            signal from its median: keep them with a warning that names their rows, treat them as missing (an episode
            is cut there, or the gap filled in), or refuse them.
        """
        from koopsieve.io.reading.files import tables_from_frames

        reading = Reading(episode, time, gaps, max_gap, resample, outliers=outliers)
        found = cls._from_tables(tables_from_frames(frame, Columns.named(states, inputs, reading)), dt)
        return found.renamed(states, inputs)

    @classmethod
    def from_file(
        cls,
        path: AnyPath | Sequence[AnyPath],
        states: Names,
        inputs: Names = (),
        *,
        episode: str | None = None,
        time: str | None = None,
        dt: float | None = None,
        gaps: str = "raise",
        max_gap: int | None = None,
        resample: float | None = None,
        missing: str | Sequence[str] = (),
        date_format: str | None = None,
        outliers: str = "keep",
    ) -> Trajectories:
        """Build from a .csv, .xlsx, .parquet, .npz or .mat file, or several; without `episode` each is one episode.

        Of text the separator, a decimal comma, lines before the names and a row of units are found out; a warning says
        what was skipped. In .npz and .mat files states, inputs, episode and time are names of arrays: one of shape (T,)
        or (T, 1) called y is a column y, one of shape (T, k) is the columns y_1 … y_k, which may be named one by one.
        Inputs may have T or T-1 rows. Row vectors in .mat files count as columns.

        Parameters
        ----------
        path : path or sequence of paths
            Read whole; nothing is built if one of them cannot be used.
        states, inputs, episode, time, dt, gaps, max_gap, resample, outliers
            As in `from_frame`.
        missing : str or sequence of str
            Text that marks a missing value in .csv and .xlsx files, such as "-", beside the usual NA, nan and null.
        date_format : str, optional
            How dates in the column of times are written, as for `datetime.strptime`: "%d/%m/%Y %H:%M:%S". Not needed
            for numbers, ISO 8601, 31.12.2024 10:00:00 and 2024/12/31 10:00:00.
        """
        from koopsieve.io.reading.files import tables_from_files  # not needed for arrays

        reading = Reading(episode, time, gaps, max_gap, resample, missing, date_format, outliers=outliers)  # type: ignore[arg-type]
        found = cls._from_tables(tables_from_files(path, Columns.named(states, inputs, reading)), dt)
        return found.renamed(states, inputs)

    def renamed(self, *names: Names) -> Trajectories:
        """Return the same data under other names: mappings from a new name to the present one; others say nothing."""
        columns = [one for one in names if isinstance(one, Mapping)]
        return replace(self, signals=self.signals.renamed(*columns)) if columns else self

    @classmethod
    def _from_tables(cls, tables: Sequence[Table], dt: float | None) -> Trajectories:
        columns, notes = tables[0].columns, tuple(note for table in tables for note in table.notes)
        names = (columns.states, columns.inputs)
        found = cls(*repaired(episodes_from_tables(tables), names, dt, columns.reading, notes))
        return replace(found, signals=replace(found.signals, reading=columns.reading))

    @property
    def n_episodes(self) -> int:
        """Number of episodes."""
        return len(self.states)

    @property
    def n_transitions(self) -> int:
        """Number of pairs of a sample and the next one in the same episode."""
        return sum(len(x) - 1 for x in self.states)

    @property
    def n_samples(self) -> int:
        """Number of samples in all episodes together."""
        return sum(len(x) for x in self.states)

    @cached_property
    def memory(self) -> int:
        """Number of samples after which the outputs have lost half of their correlation with themselves."""
        return half_life([x[:, : self.n_outputs] for x in self.states])

    def state_blocks(self) -> Iterator[FloatArray]:
        """Yield the states of every episode."""
        return iter(self.states)

    def acted_blocks(self) -> Iterator[FloatArray]:
        """Yield the states of every episode with the inputs that act on them beside, shape (T-1, n+l)."""
        return (np.concatenate([x[:-1], u], axis=1) for x, u in zip(self.states, self.inputs, strict=True))

    def __len__(self) -> int:
        return self.n_episodes

    def __getitem__(self, episode: int) -> Trajectories:
        return self.subset(operator.index(episode))

    def __iter__(self) -> Iterator[Trajectories]:
        return (self.subset(i) for i in range(len(self)))

    @classmethod
    def join(cls, parts: Sequence[Trajectories]) -> Trajectories:
        """Return the episodes of all parts together, in order; names, delays and sample time must agree."""
        if not parts:
            raise KoopsieveError("There is nothing to join. Expected at least one Trajectories.")
        for part in parts[1:]:
            parts[0].signals.require_same(part.signals, "Trajectories to join")
        return replace(
            parts[0],
            states=tuple(x for part in parts for x in part.states),
            inputs=tuple(u for part in parts for u in part.inputs),
            provenance=Provenance.join([part.provenance for part in parts]),
        )

    def subset(self, episodes: int | Iterable[int]) -> Trajectories:
        """Return only some episodes, in the order given, named by position (negative: from the end) or by flags."""
        return self.stretches([(i, 0, len(self.states[i])) for i in positions(episodes, len(self))])

    def stretches(self, chosen: Sequence[tuple[int, int, int]]) -> Trajectories:
        """Return parts of episodes as episodes: (episode, first sample, sample after the last) of each."""
        sources = [self.provenance.sources[i].cut(a, b) for i, a, b in chosen]
        return replace(
            self,
            states=tuple(between(self.states[i], a, b) for i, a, b in chosen),
            inputs=tuple(between(self.inputs[i], a, b - 1) for i, a, b in chosen),
            provenance=self.provenance.only(sources),
        )

    def split(self, fraction: float) -> tuple[Trajectories, Trajectories]:
        """Return the first part, about `fraction` of the data, and the rest, for example to validate on.

        Of several episodes each goes whole to one side, in order. A single episode is cut in time; the transition over
        the cut is left out and, if delays were embedded, so are the rows of the second part that reach back over it.

        Raises
        ------
        KoopsieveError
            If fraction is not inside (0, 1), or a single episode is too short to give both parts a transition.
        """
        real_number("fraction", fraction, SHARE)
        if len(self) > 1:
            cut = cut_between([len(u) for u in self.inputs], fraction)
            return self.subset(range(cut)), self.subset(range(cut, len(self)))
        length, reach = len(self.states[0]), self.embedding.lost
        cut = cut_within(length, fraction, reach)
        return self.stretches([(0, 0, cut)]), self.stretches([(0, cut + reach, length)])

    def _counts(self) -> dict[str, str]:
        """Return how many episodes and samples there are, as it is shown."""
        return {"episodes": str(self.n_episodes), "samples": str(self.n_samples)}
