"""What was done to data on the way in, with counts, and where every episode comes from.

Trajectories carry it, so that a report can tell it, and predictions can be joined back by row or by time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from koopsieve._types import FloatArray
from koopsieve.data.clock import PLAIN_NUMBERS, Clock, Stamps


@dataclass(frozen=True, eq=False)
class Source:
    """Where one episode comes from.

    Parameters
    ----------
    label : str
        The episode as the source calls it.
    first_row : int, optional
        The row of its first sample there; none where samples were put on another clock, or rows inserted.
    times : array, shape (T,), optional
        When its samples were taken, if the source says it.
    clock : Clock
        How the source tells time.
    name : number or text, optional
        What the source itself calls the episode: the value in its column of episodes, or the file.
    """

    label: str
    first_row: int | None = 0
    times: FloatArray | None = None
    clock: Clock = PLAIN_NUMBERS
    name: Any = None

    @property
    def stamps(self) -> Stamps | None:
        """The times of the samples as the source told them: numbers, dates or durations."""
        return None if self.times is None else self.clock.stamps(self.times)

    @property
    def start(self) -> Any:
        """The time of the first sample as the source told it; none if it did not."""
        stamps = None if self.times is None else self.clock.stamps(self.times[:1])
        return None if stamps is None else stamps[0]

    def cut(self, start: int, stop: int) -> Source:
        """Return where samples start … stop−1 come from."""
        times = None if self.times is None else self.times[start:stop]
        return replace(self, first_row=None if self.first_row is None else self.first_row + start, times=times)


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
        Values that were missing and filled in, in rows read or inserted.
    samples_resampled : int
        Samples on the even clock that data were put on; 0 if they kept their own.
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
        said = [f"{total.rows_read} rows{episodes} were read"]
        if total.samples_resampled:
            said.append(f"resampled to {total.samples_resampled} samples on an even clock")
        if total.rows_inserted:
            said.append(f"{total.rows_inserted} missing rows were put in")
        if total.values_filled:
            said.append(f"{total.values_filled} missing values were filled in")
        if total.rows_dropped:
            said.append(f"{total.rows_dropped} samples were left out")
        if self.sources and len(self.sources) != total.episodes_read:
            said.append(f"{len(self.sources)} episodes are left")
        return " ".join([f"{', '.join(said)}.", *total.notes])
