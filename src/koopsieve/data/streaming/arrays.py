"""Arrays that can be sliced as an origin: in memory, memory maps, Zarr, HDF5 or Dask arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError, real_array
from koopsieve.data.streaming.blocks import Block, Piece, WholeEpisode
from koopsieve.data.streaming.lazy import compute
from koopsieve.data.streaming.places import Places


@dataclass(frozen=True)
class Span:
    """Samples start … stop−1 of an array, and context up to `last`−1.

    `label` names the episode, and `first_row` is the row that the array begins with there.
    """

    array: int
    label: str
    first_row: int
    start: int
    stop: int
    last: int


@dataclass(frozen=True, eq=False)
class Arrays:
    """One array of states and one of inputs per episode; each is read only where a block needs it."""

    states: tuple[Any, ...]
    inputs: tuple[Any, ...]
    spans: tuple[Span, ...]

    @classmethod
    def whole(
        cls, states: Sequence[Any], inputs: Sequence[Any], places: Sequence[tuple[str, int]] | None = None
    ) -> Arrays:
        """Return the origin of all episodes, each called by its number, or as `places` says: label and first row."""
        named = [(f"episode {i}", 0) for i in range(len(states))] if places is None else places
        spans = tuple(Span(i, *named[i], 0, x.shape[0], x.shape[0]) for i, x in enumerate(states))
        return cls(tuple(states), tuple(inputs), spans)

    @property
    def n_samples(self) -> int:
        """Number of samples answered for."""
        return sum(span.stop - span.start for span in self.spans)

    def episodes(self) -> Sequence[WholeEpisode]:
        """Return every span by itself."""
        return [WholeEpisode(span.stop - span.start, replace(self, spans=(span,))) for span in self.spans]

    def pieces(self, rows: int) -> Iterator[Piece]:
        """Yield one piece per span."""
        for span in self.spans:
            yield self._blocks(span, rows)

    def _blocks(self, span: Span, rows: int) -> Iterator[Block]:
        for first, end, answered in ((span.start, span.stop, True), (span.stop, span.last, False)):
            for a in range(first, end, rows):
                b = min(a + rows, end)
                x, u = _read(self.states[span.array], a, b, span), _read(self.inputs[span.array], a, b, span)
                yield Block(x, u, Places.of(span.label, span.first_row + a, b - a), answered)

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
                spans.append(replace(span, start=a, stop=b, last=min(b + reach, self.states[span.array].shape[0])))
            passed += length
        needed = {span.array: place for place, span in enumerate(spans)}  # only these travel to the worker
        return Arrays(
            tuple(self.states[i] for i in needed),
            tuple(self.inputs[i] for i in needed),
            tuple(replace(span, array=needed[span.array]) for span in spans),
        )


def sliceable(values: Any, what: str) -> list[Any]:
    """Return arrays, one per episode, that have a shape and hold real numbers; nothing is read from what is on disk."""
    several = list(values) if isinstance(values, list | tuple) else [values]
    arrays = [array if hasattr(array, "shape") else real_array(what, array) for array in several]
    for array in arrays:
        kind = np.dtype(getattr(array, "dtype", float)).kind
        if kind not in "fiub":
            raise KoopsieveError(f"{what} must be real numbers. Expected a float or integer dtype, got {array.dtype}.")
    return arrays


def _read(array: Any, start: int, stop: int, span: Span) -> FloatArray:
    return real_array(f"The samples of {span.label}", compute(array[start:stop]))
