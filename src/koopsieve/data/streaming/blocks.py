"""How data too large for memory arrive: episodes or stretches of them, each block by block, changed on the way.

An `Origin` is where blocks come from (arrays on disk, tables, a user's iterator). It can be divided into parts that
different workers read by themselves. A part that ends in the middle of an episode goes on with a few more samples, the
context, for which it does not answer: delays and targets several steps ahead stay exact across every border. Samples
are checked and delays embedded while blocks pass by.

`cut` makes chunks of them that fit in memory, so that no transition is lost or counted twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data.embedding import Embedding
from koopsieve.data.provenance import SourceRows

BLOCK_ROWS = 16_384  # read at a time while a dictionary is fitted


@dataclass(frozen=True, eq=False)
class SampleBlock:
    """Consecutive samples of one episode."""

    states: FloatArray  # (rows, n)
    # (rows, l): row k acts between sample k and k+1; the block that ends an episode may have one row fewer
    inputs: FloatArray
    source: SourceRows  # where the samples come from, for messages
    answered: bool = True  # whether the transitions that start here count, or the samples are context for those before

    def between(self, start: int, stop: int) -> SampleBlock:
        """Return rows start … stop−1."""
        x, u = self.states[start:stop], self.inputs[start:stop]
        return SampleBlock(x, u, self.source.between(start, stop), self.answered)


Piece = Iterator[SampleBlock]  # an episode or a stretch of one: blocks that follow one another, answered ones first


class Origin(Protocol):
    """Where the pieces of a stream come from: of all of it, of one episode, or of what one worker reads."""

    @property
    def n_samples(self) -> int | None:
        """How many samples there are, if that is known without reading them."""
        ...

    def pieces(self, rows: int) -> Iterator[Piece]:
        """Yield the pieces in order, in blocks of at most `rows` rows; finish one before asking for the next."""
        ...

    def episodes(self) -> Sequence[Origin] | None:
        """Return the episodes one by one, if they and their lengths are known without reading them."""
        ...

    def parts(self, count: int, reach: int) -> Sequence[Origin]:
        """Return up to `count` parts that together answer for every sample once; one if the origin cannot be divided.

        A part needs `reach` samples of context after its last own one.
        """
        ...


class Change(Protocol):
    """What is done to the pieces; a value, so that it can be sent to other processes."""

    @property
    def reach(self) -> int:
        """How many samples after its last own one a part needs for it."""
        ...

    def __call__(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        """Yield the changed pieces."""
        ...


@dataclass(frozen=True, eq=False)
class ChangedOrigin:
    """Another origin with its pieces changed.

    `lost` is how many samples of each episode are left out; empty where none are, but for those that delays cost.
    """

    origin: Origin
    change: Change
    lost: tuple[int, ...] = ()

    @property
    def n_samples(self) -> int | None:
        """How many samples there are, before delays cost some of every episode."""
        count = self.origin.n_samples
        return None if count is None else count - sum(self.lost)

    def episodes(self) -> Sequence[Origin] | None:
        """Return the episodes of the origin, changed."""
        found = self.origin.episodes()
        return found and [
            ChangedOrigin(one, self.change, (lost,))
            for one, lost in zip(found, self.lost or [0] * len(found), strict=True)
        ]

    def pieces(self, rows: int) -> Iterator[Piece]:
        """Yield the changed pieces."""
        return self.change(self.origin.pieces(rows))

    def parts(self, count: int, reach: int) -> Sequence[Origin]:
        """Divide as the origin does, with the context that the change needs."""
        return [ChangedOrigin(part, self.change) for part in self.origin.parts(count, reach + self.change.reach)]


@dataclass(frozen=True)
class Check:
    """Refuse a sample that cannot be used where it comes by: columns must stay the same, every number finite."""

    state_names: tuple[str, ...]
    input_names: tuple[str, ...]
    reach: int = 0

    def __call__(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        """Yield the same pieces."""
        return map(self._checked, pieces)

    def _checked(self, piece: Piece) -> Piece:
        before, waiting, last = SourceRows(), np.zeros((0, len(self.input_names))), SourceRows()
        for block in piece:
            rows, inputs = len(block.states), block.inputs
            _check_columns(block.states, self.state_names, "state", block.source)
            _check_columns(inputs, self.input_names, "input", block.source)
            _check_finite(block.states, self.state_names, block.source)
            # the last input of an episode acts on nothing and may be missing, so each waits until a sample follows it
            if before.ranges and not len(waiting):
                raise KoopsieveError(
                    f"inputs are a row short before {block.source.describe(0)}, in the middle of the episode. Only the "
                    "last chunk of an episode may have one input fewer than samples."
                )
            _check_finite(waiting, self.input_names, last)
            _check_finite(inputs[: rows - 1], self.input_names, block.source)
            before, waiting, last = block.source, inputs[rows - 1 :], block.source.between(rows - 1, rows)
            yield block


@dataclass(frozen=True)
class Embed:
    """Embed delays block by block, the last samples of each block carried to the next.

    A part that answers for samples a … b−1 answers, once embedded, for a+lost … b+lost−1: all of them move alike, so
    none is lost or counted twice.
    """

    embedding: Embedding

    @property
    def reach(self) -> int:
        """As many samples as an episode loses."""
        return self.embedding.lost + self.embedding.input_lead

    def __call__(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        """Yield the embedded pieces."""
        return map(self._embedded, pieces)

    def _embedded(self, piece: Piece) -> Piece:
        answers = given = 0
        x = u = np.zeros((0, 0))
        source = SourceRows()
        for block in piece:
            answers += len(block.states) * block.answered
            kept = max(len(x) - self.reach, 0)
            source = source.between(kept, len(x)).then(block.source)
            x = np.concatenate([x[kept:], block.states]) if len(x) else block.states
            u = np.concatenate([u[kept:], block.inputs]) if len(u) else block.inputs
            if len(x) <= self.reach:
                continue
            states, _ = self.embedding.embed(x, u)
            whole = SampleBlock(
                states, u[self.reach :], source.between(self.embedding.lost, len(x) - self.embedding.input_lead)
            )
            yield from _divided(whole, min(max(answers - given, 0), len(states)))
            given += len(states)


def _divided(block: SampleBlock, own: int) -> Iterator[SampleBlock]:
    """Yield the first rows, which are answered for, and the rest as context."""
    if own:
        yield block.between(0, own)
    if own < len(block.states):
        yield replace(block.between(own, len(block.states)), answered=False)


def _check_columns(values: FloatArray, names: Sequence[str], what: str, source: SourceRows) -> None:
    if values.ndim != 2 or values.shape[1] != len(names):
        raise KoopsieveError(
            f"All blocks must have the same {what} columns. Expected {len(names)} ({', '.join(names[:4])}), got shape "
            f"{values.shape} from {source.describe(0)} on."
        )


def _check_finite(values: FloatArray, names: Sequence[str], source: SourceRows) -> None:
    if not np.isfinite(values).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(values))[0])
        raise KoopsieveError(
            f"{names[column]!r} is missing or infinite ({values[row, column]}) at {source.describe(row)}. "
            "Streams cannot jump over missing samples: fill them in, or start a new episode after the gap."
        )


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive samples of one episode."""

    # (rows + reach, n): `rows` samples that this chunk answers for, then as many of the following ones as are needed
    # and there are
    states: FloatArray
    inputs: FloatArray  # (rows + reach − 1, l)
    rows: int  # number of transitions that start in this chunk
    source: SourceRows  # where the samples come from, for messages


def cut(pieces: Iterable[Piece], rows: int, reach: int) -> Iterator[Chunk]:
    """Yield chunks of at most `rows` transitions, each with up to `reach` samples after its last transition's start.

    Examples
    --------
    >>> from koopsieve.data import Stream
    >>> data = Stream.from_arrays(np.array([[1.0], [2.0], [3.0], [4.0]]))
    >>> [chunk.states.ravel().tolist() for chunk in cut(data.pieces(rows=4), rows=2, reach=1)]
    [[1.0, 2.0, 3.0], [3.0, 4.0]]
    """
    for piece in pieces:
        yield from _cut(piece, rows, reach)


def _cut(blocks: Iterable[SampleBlock], rows: int, reach: int) -> Iterator[Chunk]:
    """Cut one piece, carrying the samples that later chunks need from block to block."""
    x = u = None
    source = SourceRows()
    open_rows = 0  # samples at the front of x whose transitions no chunk has answered for yet
    for block in blocks:
        x = block.states if x is None else np.concatenate([x, block.states])
        u = block.inputs if u is None else np.concatenate([u, block.inputs])
        source = source.then(block.source)
        open_rows += len(block.states) * block.answered
        while open_rows >= rows and len(x) >= rows + reach:
            yield Chunk(x[: rows + reach], u[: rows + reach - 1], rows, source)
            x, u, source, open_rows = x[rows:], u[rows:], source.between(rows, len(x)), open_rows - rows
    while x is not None and u is not None and (here := min(rows, open_rows, len(x) - 1)) > 0:
        yield Chunk(x[: here + reach], u[: here + reach - 1], here, source)
        x, u, source, open_rows = x[here:], u[here:], source.between(here, len(x)), open_rows - here
