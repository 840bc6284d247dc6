"""Where the samples of a stream come from: segments of consecutive rows, each read by itself.

A segment is a stretch of an array, a user's iterator of chunks, a row group of a file or a partition of a Dask data
frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Any, Protocol

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError, real_array
from koopsieve.data.provenance import SourceRows
from koopsieve.data.resampling import uneven_steps
from koopsieve.data.streaming.blocks import Piece, SampleBlock


@dataclass(frozen=True, eq=False)
class Read:
    """Consecutive samples of one episode, and their times if they are known."""

    episode: Any
    block: SampleBlock
    times: FloatArray | None = None

    def as_context(self, rows: int) -> Read:
        """Return the first rows, not answered for."""
        cut = replace(self.block.between(0, rows), answered=False)
        return Read(self.episode, cut, None if self.times is None else self.times[:rows])


class Segment(Protocol):
    """Consecutive rows that can be read by themselves."""

    @property
    def rows(self) -> int | None: ...  # noqa: D102 - none if that is not known without reading them
    @property
    def episode(self) -> Any: ...  # noqa: D102 - none if that is not known without reading them

    def read(self, rows: int) -> Iterator[Read]:
        """Yield the rows in order, at most `rows` at a time."""
        ...

    def divided(self, borders: Sequence[int]) -> Sequence[Segment]:
        """Return the segment cut at some of its rows, or as one if it cannot be cut."""
        ...


@dataclass(frozen=True, eq=False)
class SegmentOrigin:
    """Segments one after the other, of which the first `own` are answered for."""

    segments: tuple[Segment, ...]  # those after the first `own` hold context for them
    # own, reach: how many segments are answered for, and how many samples of context follow them
    own: int
    reach: int = 0
    dt: float | None = None  # the step that times must keep

    @classmethod
    def of(cls, segments: Sequence[Segment], dt: float | None = None) -> SegmentOrigin:
        """Return the origin that answers for all segments."""
        return cls(tuple(segments), len(segments), dt=dt)

    @property
    def n_samples(self) -> int | None:
        """Number of samples, if every segment knows its own."""
        counts = [segment.rows for segment in self.segments[: self.own]]
        return None if None in counts else sum(count or 0 for count in counts)

    def episodes(self) -> Sequence[SegmentOrigin] | None:
        """Return the episodes one by one, if the segments know which they are in."""
        mine = self.segments[: self.own]
        if any(segment.episode is None or segment.rows is None for segment in mine):
            return None
        groups = groupby(mine, key=lambda segment: segment.episode)
        return [SegmentOrigin.of(list(group), self.dt) for _, group in groups]

    def pieces(self, rows: int) -> Iterator[Piece]:
        """Yield one piece per run of rows of the same episode."""
        finished: set[Any] = set()
        for episode, reads in groupby(self._reads(rows), key=lambda read: read.episode):
            if episode in finished:
                raise KoopsieveError(
                    f"Episode {episode!r} comes back after another episode had begun. Its rows must follow one "
                    "another: put the files (or chunks) in order, or give the second stretch a name of its own."
                )
            finished.add(episode)
            yield self._in_time(reads)

    def parts(self, count: int, reach: int) -> Sequence[SegmentOrigin]:
        """Divide as evenly as possible: in the middle of segments where they can be cut, or else between them."""
        weights = [1 if segment.rows is None else segment.rows for segment in self.segments[: self.own]]
        total = sum(weights)
        wanted = np.linspace(0, total, min(count, total) + 1).astype(int)[1:]
        starts = np.cumsum([0, *weights])
        segments = [
            part
            for segment, a, b in zip(self.segments, starts, starts[1:], strict=False)
            for part in segment.divided((wanted[(wanted > a) & (wanted < b)] - a).tolist())
        ]
        ends = np.cumsum([1 if segment.rows is None else segment.rows for segment in segments])
        stops = np.unique(1 + np.searchsorted(ends, wanted)).tolist()
        divided = replace(self, segments=(*segments, *self.segments[self.own :]), own=len(segments))
        return [divided._between(a, b, reach) for a, b in pairwise([0, *stops])]

    def _between(self, first: int, stop: int, reach: int) -> SegmentOrigin:
        missing, last, episode = reach, stop, self.segments[stop - 1].episode
        while missing > 0 and last < len(self.segments) and self.segments[last].episode == episode:
            missing -= self.segments[last].rows or 0  # only segments that can hold context travel to the worker
            last += 1
        return replace(self, segments=self.segments[first:last], own=stop - first, reach=reach)

    def _reads(self, rows: int) -> Iterator[Read]:
        last: Any = None
        for segment in self.segments[: self.own]:
            for read in segment.read(rows):
                last = read.episode
                yield read
        missing = self.reach
        for segment in self.segments[self.own :]:
            for read in segment.read(rows):
                if missing <= 0 or read.episode != last:
                    return
                yield read.as_context(missing)
                missing -= len(read.block.states)

    def _in_time(self, reads: Iterator[Read]) -> Iterator[SampleBlock]:
        before: Read | None = None
        for read in reads:
            if read.times is not None and self.dt is not None:
                _check_steps(before, read, self.dt)
            before = read
            yield read.block


def _check_steps(before: Read | None, read: Read, dt: float) -> None:
    """Refuse a step that is not `dt`, the one from the end of the rows before included."""
    last = np.zeros(0) if before is None or before.times is None else before.times[-1:]
    times = np.concatenate([last, np.asarray(read.times)])
    uneven = uneven_steps(times, dt)
    if uneven.any():
        at = int(np.argmax(uneven))
        rows = read.block.source if before is None else before.block.source.then(read.block.source)
        row = at - len(last) if before is None else at - len(last) + len(before.block.states)
        raise KoopsieveError(
            f"The rows of an episode must follow one another in steps of {dt:.6g}. Expected time "
            f"{times[at] + dt:.10g} after {rows.describe(row)}, got {times[at + 1]:.10g} at {rows.describe(row + 1)}. "
            "Put rows and files in the order of time, or start a new episode where samples are missing."
        )


@dataclass(frozen=True, eq=False)
class ArraySegment:
    """Samples start … stop−1 of an array of states and one of inputs, read only where a block needs them.

    `source` has the rows of the whole array, and `episode` its number.
    """

    states: Any
    inputs: Any
    source: SourceRows
    episode: int
    start: int
    stop: int

    @classmethod
    def whole(
        cls, states: Sequence[Any], inputs: Sequence[Any], rows: Sequence[SourceRows] | None = None
    ) -> list[ArraySegment]:
        """Return one segment for each array; `rows` says where its samples come from."""
        known = rows or [SourceRows.of(f"episode {i}", 0, x.shape[0]) for i, x in enumerate(states)]
        return [cls(x, u, known[i], i, 0, x.shape[0]) for i, (x, u) in enumerate(zip(states, inputs, strict=True))]

    @property
    def rows(self) -> int:
        """Number of samples."""
        return self.stop - self.start

    def read(self, rows: int) -> Iterator[Read]:
        """Yield the samples."""
        what = f"The samples of {self.source.ranges[0].label}"
        for a in range(self.start, self.stop, rows):
            b = min(a + rows, self.stop)
            x, u = (real_array(what, compute(array[a:b])) for array in (self.states, self.inputs))
            yield Read(self.episode, SampleBlock(x, u, self.source.between(a, b)))

    def divided(self, borders: Sequence[int]) -> Sequence[ArraySegment]:
        """Return the segment cut at some of its samples."""
        edges = [self.start, *(self.start + border for border in borders), self.stop]
        return [replace(self, start=a, stop=b) for a, b in pairwise(edges)]


def sliceable(values: Any, what: str) -> list[Any]:
    """Return arrays, one per episode, that have a shape and hold real numbers; nothing is read from what is on disk."""
    several = list(values) if isinstance(values, list | tuple) else [values]
    arrays = [array if hasattr(array, "shape") else real_array(what, array) for array in several]
    for array in arrays:
        kind = np.dtype(getattr(array, "dtype", float)).kind
        if kind not in "fiub":
            raise KoopsieveError(f"{what} must be real numbers. Expected a float or integer dtype, got {array.dtype}.")
    return arrays


def compute(values: Any) -> Any:
    """Return the values of a Dask collection; anything else as it is."""
    if not hasattr(values, "__dask_graph__"):
        return values
    import distributed

    try:
        distributed.get_worker()
    except ValueError:
        return values.compute()
    with distributed.worker_client():  # steps aside while it waits, so that one thread per worker is enough
        return values.compute()


@dataclass(frozen=True, eq=False)
class ChunkSegment:
    """All that a user's iterator yields, chunk after chunk; it cannot be divided, and its length is not known."""

    chunks: Callable[[], Iterable[Any]]
    rows: None = None
    episode: None = None

    def read(self, rows: int) -> Iterator[Read]:
        """Yield the chunks, cut where they are too long."""
        for episode, chunks in groupby(map(as_chunk, self.chunks()), key=lambda chunk: chunk[0]):
            passed = 0
            for _, states, inputs in chunks:
                for a in range(0, len(states), rows):
                    x, u = states[a : a + rows], inputs[a : a + rows]
                    source = SourceRows.of(f"episode {episode!r}", passed + a, len(x))
                    yield Read(episode, SampleBlock(x, u, source))
                passed += len(states)

    def divided(self, borders: Sequence[int]) -> Sequence[ChunkSegment]:
        """Return the segment as one."""
        return (self,)


def as_chunk(chunk: Any) -> tuple[Any, FloatArray, FloatArray]:
    """Return (episode, states, inputs) with states and inputs as matrices."""
    if not isinstance(chunk, tuple) or len(chunk) not in (2, 3):
        raise KoopsieveError(
            "A chunk must be (episode, states) or (episode, states, inputs), the episode any name that stays the same "
            f"until the next episode starts. Got {type(chunk).__name__}."
        )
    episode = _name(chunk[0])
    what = f"A chunk of episode {episode!r}"
    states, *inputs = (real_array(what, values) for values in chunk[1:])
    states, *inputs = (values[:, None] if values.ndim == 1 else values for values in (states, *inputs))
    u = inputs[0] if inputs else np.zeros((len(states) if states.ndim else 0, 0))
    if states.ndim != 2 or u.ndim != 2 or len(u) not in (len(states), len(states) - 1):
        raise KoopsieveError(f"{what} needs states (rows, n) and inputs (rows, l). Got {states.shape} and {u.shape}.")
    return episode, states, u


def _name(episode: Any) -> Any:
    """Refuse a name that is not equal to itself, or cannot be hashed: it does not tell episodes apart."""
    try:
        known = episode in {episode} and episode == episode
    except (TypeError, ValueError):
        known = False
    if not known or episode is None:
        raise KoopsieveError(f"The episode of a chunk must be a number or a text. Got {episode!r}.")
    return episode
