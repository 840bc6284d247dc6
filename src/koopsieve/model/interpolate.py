"""Interpolation between the steps at which something was found."""

from __future__ import annotations

import numpy as np

from koopsieve._types import FloatArray, IndexArray


def at_steps(steps: IndexArray, values: FloatArray, ahead: IndexArray) -> FloatArray:
    """Interpolate along the first axis, which belongs to increasing `steps`, at the steps `ahead` between them."""
    upper = np.searchsorted(steps, ahead)
    lower = np.where(steps[upper] == ahead, upper, upper - 1)
    gap = np.maximum(steps[upper] - steps[lower], 1)
    weight = ((ahead - steps[lower]) / gap).reshape(-1, *[1] * (values.ndim - 1))
    return between(values[lower], values[upper], weight)


def between(low: FloatArray, high: FloatArray, weight: FloatArray) -> FloatArray:
    """Return (1 − weight)·low + weight·high, right also where one is infinite and the other has all the weight."""
    with np.errstate(invalid="ignore"):
        mixed = (1 - weight) * low + weight * high
    return np.where((weight == 0) | (low == high), low, np.where(weight == 1, high, mixed))
