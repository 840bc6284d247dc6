"""Holding data out: whole episodes, or stretches spread over a record, so that no window lies on both sides.

One stretch at the end of a record misleads where the plant is excited differently there, so a long record is cut into
several pieces and the end of each is held out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import TypeVar

import numpy as np

from koopsieve._types import SHARE, KoopsieveError, real_number
from koopsieve.data.episodes import cut_within
from koopsieve.data.provenance import Counts, Provenance, Source, SourceRows
from koopsieve.data.stream import Stream
from koopsieve.data.streaming.blocks import Origin, Piece, SampleBlock
from koopsieve.data.trajectories import Trajectories

Data = TypeVar("Data", Trajectories, Stream, Trajectories | Stream)
Stretch = tuple[int, int, int]  # episode, first sample, sample after the last

MAX_STRETCHES = 4  # pieces that one record is cut into
WINDOWS_PER_STRETCH = 10  # of the longest horizon, at least, in every held-out stretch
MEMORIES = 4  # … and so many times as many samples as the outputs take to lose half of their correlation
STREAM_PARTS = 64  # pieces that a stream is cut into


def hold_out(data: Data, share: float, longest: int) -> tuple[Data, Data]:
    """Return what to learn from, and about `share` of the data held out.

    Of many episodes each goes whole to one side, those held out spread evenly over the others. Where there are too few
    to give about that share, each is cut into pieces and the end of every piece is held out: up to four pieces of all
    episodes together. A held-out stretch holds many windows of `longest` steps, the longest horizon, and is long beside
    the outputs' memory.
    """
    real_number("fraction", share, SHARE)
    if isinstance(data, Stream):
        return _hold_out_stream(data, share, longest)
    if len(data) * share >= 1:
        held = spread_choice([len(u) for u in data.inputs], share)
        return data.subset(np.setdiff1d(np.arange(len(data)), held)), data.subset(held)
    return _hold_out_stretches(data, share, longest)


def spread_choice(lengths: Sequence[int], share: float) -> list[int]:
    """Return which of several episodes to hold out: evenly spread, about `share` of all, at least one, never all.

    Examples
    --------
    >>> spread_choice([100] * 8, 0.25), spread_choice([100, 100], 0.25)
    ([1, 5], [1])
    """
    ends = np.cumsum(lengths) / np.sum(lengths)
    quota = np.round(ends * share * len(lengths) + 1e-9).astype(int)
    held = np.flatnonzero(np.diff(quota, prepend=0) > 0).tolist()
    if not held:
        return [len(lengths) - 1]
    return held if len(held) < len(lengths) else held[1:]


def with_lead(data: Trajectories, share: float, longest: int, rows: int) -> tuple[Trajectories, int]:
    """Return what `hold_out` holds out, every stretch with samples before it, and how many; none of whole episodes.

    Predictions may start from samples that models learn from, as long as what is predicted is held out.
    """
    if len(data) * share >= 1:
        return hold_out(data, share, longest)[1], 0
    _, held = _stretches(data, share, longest)
    lead = min(rows, *(first for _, first, _ in held))
    return data.stretches([(episode, first - lead, last) for episode, first, last in held]), lead


def _hold_out_stretches(data: Trajectories, share: float, longest: int) -> tuple[Trajectories, Trajectories]:
    learn, held = _stretches(data, share, longest)
    return data.stretches(learn), data.stretches(held)


def _stretches(data: Trajectories, share: float, longest: int) -> tuple[list[Stretch], list[Stretch]]:
    """Cut every episode into pieces and hold the end of each out; episodes that are too short are learned from."""
    reach, least = data.embedding.lost, max(WINDOWS_PER_STRETCH * (longest + 1), MEMORIES * data.memory)
    learn: list[Stretch] = []
    held: list[Stretch] = []
    shortest = 2 * (reach + 2)
    for episode, x in enumerate(data.states):
        if len(x) < shortest and len(data) > 1:
            learn.append((episode, 0, len(x)))
            continue
        pieces = int(np.clip(share * len(x) // (least + reach), 1, max(1, MAX_STRETCHES // len(data))))
        for number, (start, stop) in enumerate(pairwise(np.linspace(0, len(x), pieces + 1).astype(int).tolist())):
            first = start + (reach if number else 0)  # delays must not reach over a cut
            cut = first + cut_within(stop - first, 1 - share, reach)
            learn.append((episode, first, cut))
            held.append((episode, cut + reach, stop))
    if not held:
        raise KoopsieveError(
            f"No episode is long enough to be split in two. Expected at least {shortest} samples in one."
        )
    return learn, held


def _hold_out_stream(data: Stream, share: float, longest: int) -> tuple[Stream, Stream]:
    """Hold out whole episodes, as of trajectories, where the stream knows them, and otherwise parts of it."""
    reach = WINDOWS_PER_STRETCH * (longest + data.embedding.lost + 1)
    parts = data.origin.episodes() or ()
    whole = len(parts) * share >= 1
    if not whole:
        count = STREAM_PARTS if data.n_samples is None else int(np.clip(data.n_samples // reach, 1, STREAM_PARTS))
        parts = data.origin.parts(count, 0)
    if whole or len(parts) > 3:
        held = spread_choice([(part.n_samples or 0) - 1 if whole else 1 for part in parts], share)
        both = ([part for i, part in enumerate(parts) if (i in held) == side] for side in (False, True))
        sides: list[Origin] = [JoinedOrigin(tuple(side), whole) for side in both]
    else:
        period = max(2, round(1 / share))
        sides = [StretchOrigin(data.origin, reach, period, held=side) for side in (False, True)]
    return replace(data, origin=sides[0]), replace(data, origin=sides[1])


def in_memory(data: Trajectories | Stream, numbers: int) -> Trajectories | Stream:
    """Return a stream that is known to hold at most `numbers` numbers as trajectories; anything else as it is."""
    if isinstance(data, Trajectories) or data.n_samples is None:
        return data
    if data.n_samples * (data.n_states + data.n_inputs) > numbers:
        return data
    return _read_whole(data)


def _read_whole(data: Stream) -> Trajectories | Stream:
    """Return a stream of a known number of samples as trajectories, or as it is if it holds no transition."""
    episodes = [_gathered(blocks) for piece in data.pieces(data.n_samples or 1) if (blocks := list(piece))]
    long_enough = [block for block in episodes if len(block.states) > 1]
    return _trajectories(long_enough, data) if long_enough else data


def sample(data: Trajectories | Stream, rows: int, stretch: int, seed: int = 0) -> Trajectories:
    """Return the data in memory, or as much as `rows` allow; see `sample_and_count`."""
    return sample_and_count(data, rows, stretch, seed)[0]


def sample_and_count(data: Trajectories | Stream, rows: int, stretch: int, seed: int = 0) -> tuple[Trajectories, int]:
    """Return the data in memory, all of them or about `rows` samples in stretches, and how many there are in all.

    A stream is sampled in stretches of `stretch` rows, drawn evenly over it.
    """
    if isinstance(data, Stream) and data.n_samples is not None and data.n_samples <= rows:
        data = _read_whole(data)
    if isinstance(data, Trajectories):
        return data, data.n_samples
    rng, room, count = np.random.default_rng(seed), max(1, rows // stretch), 0
    kept: list[tuple[int, SampleBlock]] = []
    for number, block in enumerate(_windows(data, stretch)):
        count += len(block.states)
        at = number if number < room else int(rng.integers(number + 1))  # each is kept with the same probability
        if number < room:
            kept.append((number, block))
        elif at < room:
            kept[at] = (number, block)
    found = [block for _, block in sorted(kept, key=lambda one: one[0]) if len(block.states) > 1]
    if not found:
        raise KoopsieveError("There are no transitions in these data. Expected an episode of two samples or more.")
    return _trajectories(found, data), count


def thinned(data: Trajectories, rows: int, stretch: int) -> Trajectories:
    """Return about `rows` samples, in stretches of `stretch` rows spread evenly over the data; all if there are few."""
    if data.n_samples <= rows:
        return data
    windows = [
        (episode, first, min(first + stretch, len(x)))
        for episode, x in enumerate(data.states)
        for first in range(0, max(len(x) - stretch, 0) + 1, stretch)
    ]
    count = max(1, rows // stretch)
    chosen = np.unique(np.linspace(0, len(windows) - 1, min(count, len(windows))).round().astype(int))
    return data.stretches([windows[i] for i in chosen])


def _windows(data: Stream, stretch: int) -> Iterator[SampleBlock]:
    """Yield consecutive stretches of every piece; what is left at its end is one too."""
    for piece in data.pieces(stretch):
        yield from map(_gathered, _cut(piece, stretch))


def _gathered(blocks: Sequence[SampleBlock]) -> SampleBlock:
    source = reduce(SourceRows.then, (block.source for block in blocks))
    return SampleBlock(np.concatenate([b.states for b in blocks]), np.concatenate([b.inputs for b in blocks]), source)


def _trajectories(episodes: Sequence[SampleBlock], data: Stream) -> Trajectories:
    states = tuple(block.states for block in episodes)
    sources = tuple(Source(block.source.ranges[0].label, rows=block.source) for block in episodes)
    counts = Counts(len(states), sum(map(len, states)), notes=data.notes or ())
    inputs = tuple(block.inputs[: len(block.states) - 1] for block in episodes)
    return Trajectories(states, inputs, data.signals, Provenance(sources, (counts,)))


@dataclass(frozen=True, eq=False)
class JoinedOrigin:
    """Parts of an origin, one after the other; what lies between them is on the other side.

    `whole` says that each is an episode of known length.
    """

    origins: tuple[Origin, ...]
    whole: bool = False

    @property
    def n_samples(self) -> int | None:
        """Number of samples, if the lengths of the parts are known."""
        return sum(one.n_samples or 0 for one in self.origins) if self.whole else None

    def episodes(self) -> Sequence[Origin] | None:
        """Return the parts, if they are whole episodes."""
        return self.origins if self.whole else None

    def pieces(self, rows: int) -> Iterator[Piece]:
        """Yield the pieces of all parts."""
        for origin in self.origins:
            yield from origin.pieces(rows)

    def parts(self, count: int, reach: int) -> Sequence[JoinedOrigin]:
        """Divide between the parts, which are complete in themselves."""
        groups = np.array_split(np.arange(len(self.origins)), min(count, len(self.origins)))
        return [JoinedOrigin(tuple(self.origins[i] for i in group)) for group in groups]


@dataclass(frozen=True, eq=False)
class StretchOrigin:
    """Every piece of an origin cut into stretches of `rows` rows, of which one in `period` is held out."""

    origin: Origin
    rows: int
    period: int
    held: bool
    n_samples: None = None

    def episodes(self) -> None:
        """Return nothing: stretches are no whole episodes."""

    def pieces(self, rows: int) -> Iterator[Piece]:
        """Yield the stretches of this side, each as a piece of its own; counted on over the pieces of the origin."""
        number = 0
        for piece in self.origin.pieces(min(rows, self.rows)):
            for stretch in _cut(piece, self.rows):
                if (number % self.period == self.period - 1) == self.held:
                    yield iter(stretch)
                number += 1

    def parts(self, count: int, reach: int) -> Sequence[StretchOrigin]:
        """Return the one part there is."""
        return (self,)


def _cut(piece: Piece, rows: int) -> Iterator[list[SampleBlock]]:
    """Yield stretches of exactly `rows` rows, and what is left, however long the blocks are that they arrive in."""
    gathered, missing = list[SampleBlock](), rows
    for block in piece:
        start, size = 0, len(block.states)
        while size - start >= missing:
            gathered.append(block.between(start, start + missing))
            yield gathered
            start, gathered, missing = start + missing, [], rows
        if start < size:
            gathered.append(block.between(start, size))
            missing -= size - start
    if gathered:
        yield gathered
