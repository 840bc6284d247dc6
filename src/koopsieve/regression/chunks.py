"""Cutting pieces of episodes into chunks that fit in memory, so that no transition is lost or counted twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.data.provenance import SourceRows
from koopsieve.data.streaming.blocks import Piece, SampleBlock


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive samples of one episode.

    Parameters
    ----------
    states : array, shape (rows + reach, n)
        `rows` samples that this chunk answers for, then as many of the following ones as are needed and there are.
    inputs : array, shape (rows + reach − 1, l)
    rows : int
        Number of transitions that start in this chunk.
    source : SourceRows
        Where the samples come from, for messages.
    """

    states: FloatArray
    inputs: FloatArray
    rows: int
    source: SourceRows


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
