"""Samples of a stream far outside the others: found while it is read twice, in bounded memory.

The first pass keeps the extremes of every signal and rows drawn evenly, which give the bounds; up to 50 000 rows these
are all rows, and what is found is what arrays of the same samples give. The second pass, which is made only if an
extreme lies outside its bounds, finds the rows. Dropped samples are missing ones: episodes are cut there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray, KoopsieveError
from koopsieve.data.episodes import warn_of_constants
from koopsieve.data.outliers import (
    MAX_LISTED,
    MAX_RUN,
    bounds,
    extremes,
    far_value,
    outliers_in_words,
    outside,
    single_flags,
)
from koopsieve.data.provenance import SourceRows
from koopsieve.data.streaming.blocks import BLOCK_ROWS, ChangedOrigin, Origin, Piece, SampleBlock
from koopsieve.io.reading.columns import DROP

MAX_SAMPLED_ROWS = 50_000
MAX_DROPPED = 10_000  # more are kept in no list, and are no single faults


@dataclass(frozen=True, eq=False)
class Faults:
    """Values far outside; called with pieces, it cuts them there."""

    count: int
    listed: tuple[str, ...]  # the first of them in words
    # states, inputs: from label to increasing array: the rows of every source whose states or inputs they are
    states: Mapping[str, IndexArray]
    inputs: Mapping[str, IndexArray]
    lost: tuple[int, ...]  # how many samples of each episode are left out if they are dropped
    reach: int = 0

    def __call__(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        """Yield what lies between the faults, each stretch as a piece of its own."""
        for piece in pieces:
            for _, stretch in groupby(self._numbered(piece), key=lambda pair: pair[0]):
                yield (block for _, block in stretch)

    def _numbered(self, piece: Piece) -> Iterator[tuple[int, SampleBlock]]:
        """Yield the good rows of a piece; the number is that of the stretch they are in."""
        number = 0
        for block in piece:
            start = 0
            for row, has_state in self._faulty(block.source):
                stop = row + has_state
                if start < stop:
                    yield number, block.between(start, stop)
                start, number = row + 1, number + 1
            if start < len(block.states):
                yield number, block.between(start, len(block.states))

    def _faulty(self, source: SourceRows) -> list[tuple[int, bool]]:
        """Return the faulty rows of a block, and whether only their input is faulty."""
        found, passed = [], 0
        for label, first, size, _ in source.ranges:
            for faults, has_state in ((self.inputs, True), (self.states, False)):
                rows = faults.get(label, np.zeros(0, dtype=np.intp))
                here = slice(*np.searchsorted(rows, [first, first + size]))
                found += [(passed + row - first, has_state) for row in rows[here].tolist()]
            passed += size
        return sorted(dict(found).items())


def handle_stream_outliers(
    origin: Origin, names: tuple[Sequence[str], Sequence[str]], what: str
) -> tuple[Origin, tuple[str, ...]]:
    """Return the origin, cut at what lies far outside if it is to be dropped, and what was found in words.

    As `handle_outliers` for arrays; inputs that never change are named as well.
    """
    columns, outputs = [*names[0], *names[1]], len(names[0])
    between, low, high = _surveyed(origin, outputs, len(columns))
    warn_of_constants("Input", low[outputs:], high[outputs:], names[1])
    if not (outside(low, between) | outside(high, between)).any():
        return origin, ()
    found = _find(origin, between, columns, outputs)
    if not found.count:
        return origin, ()
    if what == DROP and found.count > MAX_DROPPED:
        raise KoopsieveError(
            f"{found.count} values lie far outside the others, the first: {found.listed[0]}. More than {MAX_DROPPED} "
            'are not dropped from a stream: repair the data first, or pass outliers="keep".'
        )
    note = outliers_in_words(found.count, found.listed, what)
    return ChangedOrigin(origin, found, found.lost) if what == DROP else origin, (note,)


def _surveyed(origin: Origin, outputs: int, columns: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the bounds, the least and the largest value of every signal."""
    rng = np.random.default_rng(0)
    rows, keys = np.zeros((0, columns)), np.zeros(0)
    low, high = np.full(columns, np.inf), np.full(columns, -np.inf)
    for piece in origin.pieces(BLOCK_ROWS):
        for values, _ in _rows(piece, outputs):
            least, most = extremes(values)
            low, high = np.minimum(low, least), np.maximum(high, most)
            rows, keys = np.concatenate([rows, values]), np.concatenate([keys, rng.random(len(values))])
            if len(keys) > MAX_SAMPLED_ROWS:  # the rows with the least keys are a sample in which each is as likely
                kept = np.argpartition(keys, MAX_SAMPLED_ROWS)[:MAX_SAMPLED_ROWS]
                rows, keys = rows[kept], keys[kept]
    return bounds(rows, low, high), low, high


def _rows(piece: Piece, outputs: int, repeat: bool = False) -> Iterator[tuple[FloatArray, SourceRows]]:
    """Yield outputs and inputs side by side.

    The last input of an episode acts on nothing: it is unknown, or if `repeat` that before it, so that what is far
    outside there ends the record.
    """
    waiting: tuple[FloatArray, SourceRows] | None = None
    before: FloatArray | None = None
    for block in piece:
        if waiting is not None:
            yield waiting
            before = waiting[0][-1:]
        u = np.full((len(block.states), block.inputs.shape[1]), np.nan)
        u[: len(block.inputs)] = block.inputs
        waiting = np.concatenate([block.states[:, :outputs], u], axis=1), block.source
    if waiting is not None:
        last = (waiting[0] if before is None else np.concatenate([before, waiting[0]]))[-2:-1]
        waiting[0][-1:, outputs:] = last[:, outputs:] if repeat and len(last) else np.nan
        yield waiting


def _find(origin: Origin, between: FloatArray, names: Sequence[str], outputs: int) -> Faults:
    count, listed, lost = 0, list[str](), list[int]()
    rows: tuple[dict[str, set[int]], dict[str, set[int]]] = (defaultdict(set), defaultdict(set))
    for piece in origin.pieces(BLOCK_ROWS):
        left_out = set[tuple[str, int]]()
        for values, far, source in _flagged(_rows(piece, outputs, repeat=True), between):
            for row, column in np.argwhere(far).tolist():
                count += 1
                if len(listed) < MAX_LISTED:
                    listed.append(far_value(names[column], values[row, column], source.describe(row)))
                if count <= MAX_DROPPED:
                    label, number, _, _ = source.between(row, row + 1).ranges[0]
                    rows[column >= outputs][label].add(number)
                    left_out |= {(label, number)} if column < outputs else set()
        lost.append(len(left_out))
    states, inputs = ({label: np.array(sorted(found)) for label, found in kind.items()} for kind in rows)
    return Faults(count, tuple(listed), states, inputs, tuple(lost))


def _flagged(
    blocks: Iterator[tuple[FloatArray, SourceRows]], between: FloatArray
) -> Iterator[tuple[FloatArray, BoolArray, SourceRows]]:
    """Yield every row of a piece once, with the flags of what is far outside.

    Whether a row is in a run of at most `MAX_RUN` is known from `MAX_RUN` rows on either side of it, so the last rows
    of a block wait for the next.
    """
    values, source, first = np.zeros((0, between.shape[1])), SourceRows(), 0
    far = np.zeros(values.shape, dtype=bool)
    for new, where in blocks:
        values, source = np.concatenate([values, new]), source.then(where)
        far = single_flags(outside(values, between))
        known = max(len(values) - MAX_RUN, first)
        yield values[first:known], far[first:known], source.between(first, known)
        kept = max(known - MAX_RUN, 0)
        source = source.between(kept, len(values))
        values, far, first = values[kept:], far[kept:], known - kept
    yield values[first:], far[first:], source.between(first, len(values))
