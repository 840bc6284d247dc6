"""How data too large for memory arrive: episodes or stretches of them, each block by block.

An `Origin` is where blocks come from (arrays on disk, tables, a user's iterator). It can be divided into parts that
different workers read by themselves. A part that ends in the middle of an episode goes on with a few more samples, the
context, for which it does not answer: delays and targets several steps ahead stay exact across every border.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from koopsieve._types import FloatArray
from koopsieve.data.provenance import SourceRows


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive samples of one episode.

    Parameters
    ----------
    states : array, shape (rows, n)
    inputs : array, shape (rows, l)
        Row k acts between sample k and k+1; the block that ends an episode may have one row fewer.
    source : SourceRows
        Where the samples come from, for messages.
    answered : bool
        Whether the transitions that start here count, or the samples are context for those before.
    """

    states: FloatArray
    inputs: FloatArray
    source: SourceRows
    answered: bool = True


Piece = Iterator[Block]  # an episode or a stretch of one: blocks that follow one another, answered ones first


class Readable(Protocol):
    """Something that gives pieces, anew each time it is asked."""

    def pieces(self, rows: int) -> Iterator[Piece]:
        """Yield the pieces in order, in blocks of at most `rows` rows; finish one before asking for the next."""
        ...


class WholeEpisode(NamedTuple):
    """An episode with its length, to be read by itself."""

    rows: int
    part: Readable


class Origin(Readable, Protocol):
    """Where the pieces of a stream come from."""

    @property
    def n_samples(self) -> int | None:
        """How many samples there are, if that is known without reading them."""
        ...

    def episodes(self) -> Sequence[WholeEpisode] | None:
        """Return the episodes one by one, if they are known without reading them."""
        ...

    def parts(self, count: int, reach: int) -> Sequence[Readable]:
        """Return up to `count` parts that together answer for every sample once.

        Parameters
        ----------
        count : int
            How many are wanted; an origin that cannot be divided returns one.
        reach : int
            How many samples of context a part needs after its last own one.
        """
        ...
