"""Windows: short stretches of record over which a model is simulated from a measured start.

Comes in: embedded episodes, in memory or piece by piece. Goes out: a frozen `Windows` of bounded size. The starts are
spread over the whole record.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray, IndexArray, KoopsieveError

Episode = tuple[FloatArray, FloatArray]  # embedded states (samples, n_x) and the inputs between them (samples - 1, l)
GOLDEN = (np.sqrt(5) - 1) / 2


@dataclass(frozen=True, eq=False)
class Windows:
    """Measured starts, the inputs that follow, and the outputs that were measured.

    Parameters
    ----------
    starts : array, shape (W, n_x)
        The delay line at the start of each window.
    inputs : array, shape (W, T, l)
        The input that acts in each step.
    outputs : array, shape (W, T, n)
        The outputs measured after each step.
    """

    starts: FloatArray
    inputs: FloatArray
    outputs: FloatArray

    @property
    def count(self) -> int:
        """Number of windows W."""
        return len(self.starts)

    @property
    def length(self) -> int:
        """Number of steps T."""
        return int(self.outputs.shape[1])

    def take(self, chosen: IndexArray | slice) -> Windows:
        """Return some of the windows."""
        return Windows(self.starts[chosen], self.inputs[chosen], self.outputs[chosen])

    def shortened(self, length: int) -> Windows:
        """Return the same windows, ended after `length` steps."""
        return Windows(self.starts, self.inputs[:, :length], self.outputs[:, :length])


def draw_windows(
    episodes: Iterable[Episode], outputs: int, length: int, count: int, rng: np.random.Generator
) -> Windows:
    """Draw at most `count` windows of `length` steps, spread over all episodes, in one pass.

    Start number j of all starts gets the key frac(j·golden + offset), and the `count` smallest keys are kept: wherever
    the record ends, what is kept lies evenly over it (three-distance theorem), and no more is ever in memory.

    Parameters
    ----------
    episodes : iterable of (states, inputs)
        Embedded states (samples, n_x), the outputs their first columns, and the inputs between them (samples - 1, l).
        No window crosses from one into the next; ones shorter than a window are passed over.
    outputs : int
        Number of outputs n.
    length, count : int
        Steps T of each window, windows at most.
    rng : numpy.random.Generator
        Draws the offset.

    Raises
    ------
    KoopsieveError
        If no episode is long enough for a single window.
    """
    offset, seen, longest = rng.random(), 0, 0
    keys, kept = np.empty(0), None
    for states, inputs in episodes:
        starts = len(states) - length
        longest = max(longest, len(states) - 1)
        if starts <= 0:
            continue
        own = np.modf((seen + np.arange(starts)) * GOLDEN + offset)[0]
        seen += starts
        every = np.concatenate([keys, own])
        chosen = np.sort(np.argsort(every, kind="stable")[:count])
        new = _gather(states, inputs, chosen[chosen >= len(keys)] - len(keys), outputs, length)
        kept = new if kept is None else _joined(kept.take(chosen[chosen < len(keys)]), new)
        keys = every[chosen]
    if kept is None:
        raise KoopsieveError(
            f"A window of {length} steps fits into no episode: the longest has {longest} steps after its delays. "
            "Use shorter windows, fewer delays, or longer episodes."
        )
    return kept


def _gather(states: FloatArray, inputs: FloatArray, starts: IndexArray, outputs: int, length: int) -> Windows:
    steps = starts[:, None] + np.arange(length)
    return Windows(states[starts], inputs[steps], states[steps + 1, :outputs])


def _joined(first: Windows, second: Windows) -> Windows:
    return Windows(
        np.concatenate([first.starts, second.starts]),
        np.concatenate([first.inputs, second.inputs]),
        np.concatenate([first.outputs, second.outputs]),
    )
