"""Cutting trajectories into chunks that fit in memory, so that no transition is lost or counted twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from koopsieve._types import FloatArray
from koopsieve.data import Trajectories


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive samples of one episode.

    Parameters
    ----------
    states : array, shape (rows + reach, n)
        `rows` samples that this chunk answers for, then as many of the following ones as are needed and there are.
    inputs : array, shape (rows + reach − 1, l)
    rows : int
        How many transitions start in this chunk.
    """

    states: FloatArray
    inputs: FloatArray
    rows: int


def cut(trajectories: Trajectories, rows: int, reach: int) -> Iterator[Chunk]:
    """Yield chunks of at most `rows` transitions, each with up to `reach` samples after its last transition's start.

    Examples
    --------
    >>> data = Trajectories.from_arrays([[1.0], [2.0], [3.0], [4.0]])
    >>> [chunk.states.ravel().tolist() for chunk in cut(data, rows=2, reach=1)]
    [[1.0, 2.0, 3.0], [3.0, 4.0]]
    """
    for states, inputs in zip(trajectories.states, trajectories.inputs, strict=True):
        transitions = len(states) - 1
        for start in range(0, transitions, rows):
            stop = min(start + rows, transitions)
            last = min(stop + reach, len(states))
            yield Chunk(states[start:last], inputs[start : last - 1], stop - start)
