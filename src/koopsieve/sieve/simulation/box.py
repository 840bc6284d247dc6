"""The box: bounds inside which simulated outputs are held.

During a fit it makes a bad trial step bad and not infinite. Where the record shows a limit of the plant or of its
sensor (many samples at exactly the same extreme value), the bound is that limit and part of the model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import BoolArray, FloatArray

_LEAST_COUNT, _LEAST_SHARE = 10, 0.01  # samples at exactly the extreme value that tell a limit, and their share
_ABOVE_NEXT = 5  # … and how many times as many as at the next value: coarse quantisation has many at both


@dataclass(frozen=True, eq=False)
class Box:
    """Bounds of the outputs, each of shape (n,).

    Parameters
    ----------
    low, high : array, shape (n,)
        A prediction beyond them is set onto them.
    low_is_limit, high_is_limit : array of bool, shape (n,)
        Which of them are limits that the record shows; the others are only a wide margin.
    """

    low: FloatArray
    high: FloatArray
    low_is_limit: BoolArray
    high_is_limit: BoolArray

    def hold(self, outputs: FloatArray) -> FloatArray:
        """Return outputs (…, n) with what is beyond a bound set onto it."""
        return np.clip(outputs, self.low, self.high)


def box_around(outputs: FloatArray, margin: float = 1.0) -> Box:
    """Return the box of measured outputs (samples, n): their limits, or their range widened by `margin` of itself."""
    low, high = outputs.min(axis=0), outputs.max(axis=0)
    low_is_limit = np.array([_is_limit(-column) for column in outputs.T])
    high_is_limit = np.array([_is_limit(column) for column in outputs.T])
    room = margin * (high - low)
    return Box(
        np.where(low_is_limit, low, low - room), np.where(high_is_limit, high, high + room), low_is_limit, high_is_limit
    )


def _is_limit(values: FloatArray) -> bool:
    """Tell whether the largest value is one at which the record stays, and not just the largest."""
    levels, counts = np.unique(values, return_counts=True)
    enough = max(_LEAST_COUNT, _LEAST_SHARE * len(values))
    return len(levels) > 1 and bool(counts[-1] >= enough and counts[-1] >= _ABOVE_NEXT * counts[-2])
