"""Origins of streams: arrays that can be sliced, a user's chunks, and another origin with delays embedded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.data.embedding import Embedding
from koopsieve.data.streaming.blocks import Block, Origin, Piece, Readable
from koopsieve.data.streaming.lazy import read


@dataclass(frozen=True)
class Span:
    """Samples start … stop−1 of an episode, and context up to `last`−1."""

    episode: int
    start: int
    stop: int
    last: int


@dataclass(frozen=True, eq=False)
class Arrays:
    """One array of states and one of inputs per episode; anything that can be sliced into a NumPy array.

    NumPy arrays and memory maps, Zarr, HDF5 and Dask arrays are read only where a block needs them.
    """

    states: tuple[Any, ...]
    inputs: tuple[Any, ...]
    spans: tuple[Span, ...]

    @classmethod
    def whole(cls, states: Sequence[Any], inputs: Sequence[Any]) -> Arrays:
        """Return the origin of all episodes."""
        spans = tuple(Span(i, 0, x.shape[0], x.shape[0]) for i, x in enumerate(states))
        return cls(tuple(states), tuple(inputs), spans)

    @property
    def n_samples(self) -> int:
        """Number of samples answered for."""
        return sum(span.stop - span.start for span in self.spans)

    def pieces(self, rows: int) -> Iterator[Piece]:
        """Yield one piece per span."""
        for span in self.spans:
            yield Piece(f"episode {span.episode}", self._blocks(span, rows))

    def _blocks(self, span: Span, rows: int) -> Iterator[Block]:
        x, u = self.states[span.episode], self.inputs[span.episode]
        for first, end, answered in ((span.start, span.stop, True), (span.stop, span.last, False)):
            for a in range(first, end, rows):
                b = min(a + rows, end)
                yield Block(read(x[a:b]), read(u[a:b]), answered)

    def parts(self, count: int, reach: int) -> Sequence[Arrays]:
        """Divide by samples, in the middle of episodes where need be."""
        borders = np.linspace(0, self.n_samples, min(count, self.n_samples) + 1).astype(int).tolist()
        return [self._between(a, b, reach) for a, b in pairwise(borders)]

    def _between(self, first: int, end: int, reach: int) -> Arrays:
        spans, passed = [], 0
        for span in self.spans:
            length = span.stop - span.start
            a, b = span.start + max(first - passed, 0), span.start + min(end - passed, length)
            if a < b:
                spans.append(Span(span.episode, a, b, min(b + reach, self.states[span.episode].shape[0])))
            passed += length
        needed = {span.episode: place for place, span in enumerate(spans)}  # only these travel to the worker
        return Arrays(
            tuple(self.states[i] for i in needed),
            tuple(self.inputs[i] for i in needed),
            tuple(replace(span, episode=needed[span.episode]) for span in spans),
        )


Chunk = tuple[Any, Any, FloatArray]  # episode, states, inputs


@dataclass(frozen=True, eq=False)
class Chunks:
    """What a user's iterator yields, chunk after chunk; it has no parts and no known length."""

    chunks: Callable[[], Iterable[Any]]

    n_samples: None = None

    def pieces(self, rows: int) -> Iterator[Piece]:
        """Yield one piece per run of chunks of the same episode."""
        finished: set[Any] = set()
        for episode, chunks in groupby(map(as_chunk, self.chunks()), key=lambda chunk: chunk[0]):
            refuse_return(episode, finished, "the chunks")
            finished.add(episode)
            yield Piece(f"episode {episode!r}", _sliced(chunks, rows))

    def parts(self, count: int, reach: int) -> Sequence[Chunks]:
        """Return the one part there is."""
        return (self,)


def as_chunk(chunk: Any) -> Chunk:
    """Return (episode, states, inputs) with states and inputs as matrices.

    Raises
    ------
    KoopsieveError
        If the chunk is not such a triple, or not of real numbers, or states and inputs do not go together.
    """
    if not isinstance(chunk, tuple) or len(chunk) not in (2, 3):
        raise KoopsieveError(
            "A chunk must be (episode, states) or (episode, states, inputs), the episode any name that stays the same "
            f"until the next episode starts. Got {type(chunk).__name__}."
        )
    try:
        states, *inputs = (np.asarray(values, dtype=float) for values in chunk[1:])
    except (TypeError, ValueError) as error:
        raise KoopsieveError(f"A chunk of episode {chunk[0]!r} must hold arrays of real numbers: {error}.") from error
    states, *inputs = (values[:, None] if values.ndim == 1 else values for values in (states, *inputs))
    u = inputs[0] if inputs else np.zeros((len(states), 0))
    if states.ndim != 2 or u.ndim != 2 or len(u) not in (len(states), len(states) - 1):
        raise KoopsieveError(
            f"A chunk needs states (rows, n) and inputs (rows, l). Got {states.shape} and {u.shape} in episode "
            f"{chunk[0]!r}."
        )
    return chunk[0], states, u


def refuse_return(episode: Any, finished: set[Any], source: str) -> None:
    """Refuse an episode that was left for another and comes back."""
    if episode in finished:
        raise KoopsieveError(
            f"Episode {episode!r} comes back in {source} after another episode had begun. Its rows must follow one "
            "another: put the files (or chunks) in order, or give the second stretch a name of its own."
        )


def _sliced(chunks: Iterable[Chunk], rows: int) -> Iterator[Block]:
    for _, states, inputs in chunks:
        for a in range(0, len(states), rows):
            yield Block(states[a : a + rows], inputs[a : a + rows])


@dataclass(frozen=True, eq=False)
class Embedded:
    """Another origin with delays embedded block by block, the last samples of each block carried to the next."""

    origin: Origin
    embedding: Embedding

    @property
    def n_samples(self) -> int | None:
        """How many samples there are before delays cost the first of every episode."""
        return self.origin.n_samples

    def pieces(self, rows: int) -> Iterator[Piece]:
        """Yield the same pieces, embedded."""
        return EmbeddedPart(self.origin, self.embedding).pieces(rows)

    def parts(self, count: int, reach: int) -> Sequence[Readable]:
        """Divide as the origin does, with the delays' worth of context more.

        A part that answers for samples a … b−1 answers, once embedded, for a+lost … b+lost−1: all of them move alike,
        so none is lost or counted twice.
        """
        more = self.embedding.lost + self.embedding.ahead
        return [EmbeddedPart(part, self.embedding) for part in self.origin.parts(count, reach + more)]


@dataclass(frozen=True, eq=False)
class EmbeddedPart:
    """A part of an origin with delays embedded."""

    part: Readable
    embedding: Embedding

    def pieces(self, rows: int) -> Iterator[Piece]:
        """Yield the same pieces, embedded."""
        for piece in self.part.pieces(rows):
            yield Piece(piece.label, _embedded(piece.blocks, self.embedding))


def _embedded(blocks: Iterator[Block], embedding: Embedding) -> Iterator[Block]:
    carried, answers, given = embedding.lost + embedding.ahead, 0, 0
    x = u = None
    for block in blocks:
        answers += len(block.states) * block.answered
        x = block.states if x is None else np.concatenate([x[max(len(x) - carried, 0) :], block.states])
        u = block.inputs if u is None else np.concatenate([u[max(len(u) - carried, 0) :], block.inputs])
        if len(x) <= carried:
            continue
        states, _ = embedding.embed(x, u)
        acting = u[carried:]  # one per state, unless the episode ends here
        own = min(max(answers - given, 0), len(states))
        given += len(states)
        if own:
            yield Block(states[:own], acting[:own])
        if own < len(states):
            yield Block(states[own:], acting[own:], answered=False)
