"""What was done to data on the way in, with counts, and where every episode comes from.

Trajectories carry it, so that a report can show it, messages can name a row, and predictions can be joined back by row
or by time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.io.reading.times import PLAIN_NUMBERS, Stamps, TimeBase


class RowRange(NamedTuple):
    """Consecutive rows of one source: its label, the first of them, how many, and whether it has a table's rows.

    Rows of tables are counted as a spreadsheet shows them; the samples of arrays are counted from 0.
    """

    label: str
    first: int
    size: int
    table: bool = False


@dataclass(frozen=True)
class SourceRows:
    """The rows that consecutive samples come from, so that a message can name one however data were cut or embedded.

    Examples
    --------
    >>> rows = SourceRows.of("log.csv", 5, 3, table=True).then(SourceRows.of("episode 1", 0, 2))
    >>> rows.describe(1), rows.between(2, 5).describe(1)
    ('row 6 (as in a spreadsheet) of log.csv', 'sample 0 (counted from 0) of episode 1')
    """

    ranges: tuple[RowRange, ...] = ()

    @classmethod
    def of(cls, label: str, first: int, size: int, table: bool = False) -> SourceRows:
        """Return consecutive rows of one source."""
        return cls((RowRange(label, first, size, table),))

    @classmethod
    def numbered(cls, label: str, numbers: Sequence[int]) -> SourceRows:
        """Return rows of a table by their numbers."""
        rows = np.asarray(numbers)
        borders = [0, *(np.flatnonzero(np.diff(rows) != 1) + 1).tolist(), len(rows)]
        return cls(tuple(RowRange(label, int(rows[a]), b - a, True) for a, b in pairwise(borders) if a < b))

    def then(self, other: SourceRows) -> SourceRows:
        """Return these rows followed by others."""
        if not self.ranges or not other.ranges:
            return self if self.ranges else other
        last, *rest = self.ranges[-1], *other.ranges
        if last.label == rest[0].label and last.first + last.size == rest[0].first:
            rest[0] = last._replace(size=last.size + rest[0].size)
            return SourceRows((*self.ranges[:-1], *rest))
        return SourceRows(self.ranges + other.ranges)

    def between(self, start: int, stop: int) -> SourceRows:
        """Return the rows of samples start … stop−1."""
        kept, passed = [], 0
        for rows in self.ranges:
            a, b = max(start - passed, 0), min(stop - passed, rows.size)
            if a < b:
                kept.append(rows._replace(first=rows.first + a, size=b - a))
            passed += rows.size
        return SourceRows(tuple(kept))

    def describe(self, sample: int) -> str:
        """Return the row of one sample in words."""
        label, first, _, table = self.between(sample, sample + 1).ranges[0]
        number = f"row {first} (as in a spreadsheet)" if table else f"sample {first} (counted from 0)"
        return f"{number} of {label}"


@dataclass(frozen=True, eq=False)
class Source:
    """Where one episode comes from.

    Parameters
    ----------
    label : str
        The episode as the source calls it.
    first_row : int, optional
        The position of its first sample among the samples there, from 0; none where samples were put on another time
        grid, or rows inserted.
    times : array, shape (T,), optional
        When its samples were taken, if the source has times.
    time_base : TimeBase
        What the times are counted in, and from where.
    name : number or text, optional
        What the source itself calls the episode: the value in its column of episodes, or the file.
    rows : SourceRows
        The rows of a table that the samples come from; empty where there is no table.
    """

    label: str
    first_row: int | None = 0
    times: FloatArray | None = None
    time_base: TimeBase = PLAIN_NUMBERS
    name: Any = None
    rows: SourceRows = SourceRows()

    @property
    def stamps(self) -> Stamps | None:
        """The times of the samples as the source has them: numbers, dates or durations."""
        return None if self.times is None else self.time_base.stamps(self.times)

    def cut(self, start: int, stop: int) -> Source:
        """Return where samples start … stop−1 come from."""
        return replace(
            self,
            first_row=None if self.first_row is None else self.first_row + start,
            times=None if self.times is None else self.times[start:stop],
            rows=self.rows.between(start, stop),
        )

    def moved(self, times: FloatArray, time_base: TimeBase) -> Source:
        """Return the source of samples at other times, which are no rows any more."""
        return replace(self, first_row=None, times=times, time_base=time_base, rows=SourceRows())

    def describe(self, sample: int) -> str:
        """Return the row, the time or the number of a sample in words."""
        if self.rows.ranges:
            return self.rows.describe(sample)
        if self.first_row is None and self.times is not None:
            return f"time {self.time_base.text(self.times[sample])} of {self.label}"
        return self.samples(sample + 1).describe(sample)

    def samples(self, count: int) -> SourceRows:
        """Return the rows of the first `count` samples, or their numbers where they are no rows."""
        if self.rows.ranges:
            return self.rows.between(0, count)
        return SourceRows.of(self.label, self.first_row or 0, count)


@dataclass(frozen=True, eq=False)
class Counts:
    """What one step did to the data, or all of them together.

    Parameters
    ----------
    episodes_read, rows_read : int
        How many there were in the source.
    rows_inserted : int
        Rows that were missing in time and put in.
    values_filled : int
        Values that were missing and filled in: in rows read, inserted, or on the new grid between samples that lie
        further apart than the column's own step.
    samples_resampled : int
        Samples on the even time grid that data were put on; 0 if they kept their own times.
    rows_dropped : int
        Samples left out: incomplete, alone between gaps, or in an episode too short for the delays.
    notes : tuple of str
        What else was found, such as the dialect of a file.
    """

    episodes_read: int = 0
    rows_read: int = 0
    rows_inserted: int = 0
    values_filled: int = 0
    samples_resampled: int = 0
    rows_dropped: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Provenance:
    """What was done between source and trajectories.

    Parameters
    ----------
    sources : tuple of Source
        One per episode.
    steps : tuple of Counts
        What was done, step by step. Parts of the same data share their steps, so that joining the parts again counts
        none of them twice.
    """

    sources: tuple[Source, ...] = ()
    steps: tuple[Counts, ...] = ()

    @classmethod
    def of_arrays(cls, lengths: Iterable[int]) -> Provenance:
        """Return the provenance of arrays that nothing was done to."""
        rows = list(lengths)
        return cls(tuple(Source(f"episode {i}") for i in range(len(rows))), (Counts(len(rows), sum(rows)),))

    @classmethod
    def join(cls, parts: Sequence[Provenance]) -> Provenance:
        """Return the provenance of the episodes of all parts together."""
        steps = {id(step): step for part in parts for step in part.steps}
        return cls(tuple(source for part in parts for source in part.sources), tuple(steps.values()))

    @property
    def total(self) -> Counts:
        """The counts of all steps together."""
        numbers = [field.name for field in fields(Counts) if field.name != "notes"]
        notes = tuple(dict.fromkeys(note for step in self.steps for note in step.notes))
        return Counts(**{name: sum(getattr(step, name) for step in self.steps) for name in numbers}, notes=notes)

    @property
    def changed(self) -> bool:
        """Whether anything was done to the data, or found, beside reading them."""
        total = self.total
        counts = (total.rows_inserted, total.values_filled, total.samples_resampled, total.rows_dropped)
        return any(counts) or bool(total.notes)

    def only(self, sources: Sequence[Source]) -> Provenance:
        """Return the same steps for some of the episodes, or for stretches of them."""
        return replace(self, sources=tuple(sources))

    def then(self, step: Counts) -> Provenance:
        """Return the provenance with one more step."""
        return replace(self, steps=(*self.steps, step))

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values, for files."""
        counts = asdict(self.total)
        return {**counts, "notes": list(counts["notes"]), "episodes": len(self.sources)}

    def describe(self) -> str:
        """Return in words what was done; only the rows read, if nothing was.

        Examples
        --------
        >>> Provenance.of_arrays([10, 20]).describe()
        '30 rows in 2 episodes were read.'
        """
        total = self.total
        episodes = f" in {total.episodes_read} episode{'s'[: total.episodes_read != 1]}" if total.episodes_read else ""
        parts = [f"{total.rows_read} rows{episodes} were read"]
        if total.samples_resampled:
            parts.append(f"resampled to {total.samples_resampled} samples on an even time grid")
        for count, one, several in (
            (total.rows_inserted, "missing row was put in", "missing rows were put in"),
            (total.values_filled, "missing value was filled in", "missing values were filled in"),
            (total.rows_dropped, "sample was left out", "samples were left out"),
            (
                len(self.sources) if len(self.sources) != total.episodes_read else 0,
                "episode is left",
                "episodes are left",
            ),
        ):
            parts += [f"{count} {one if count == 1 else several}"] if count else []
        return " ".join([f"{', '.join(parts)}.", *total.notes])
