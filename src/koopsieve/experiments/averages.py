"""Means over Monte Carlo runs and their 95 % intervals, also when some runs diverged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special


@dataclass(frozen=True)
class Average:
    """Mean, half-width of its 95 % interval (Student's t), and median."""

    mean: float
    ci95: float
    median: float


def average(values: Sequence[float]) -> Average:
    """Return mean, interval and median; a diverged run (inf) makes the mean and the interval inf.

    Examples
    --------
    >>> average([1.0, 2.0, 3.0]).mean, round(average([1.0, 2.0, 3.0]).ci95, 3)
    (2.0, 2.484)
    """
    numbers = np.array(values, dtype=float)
    median = float(np.sort(numbers)[[(len(numbers) - 1) // 2, len(numbers) // 2]].mean())
    if not np.isfinite(numbers).all():
        return Average(math.inf, math.inf, median)
    scale = 2.0 ** min(math.frexp(float(np.abs(numbers).max()))[1], 1023)
    scaled = numbers / scale  # exactly; the squares of 1e200 would overflow
    mean = float(scaled.mean())
    if len(numbers) < 2:
        return Average(mean * scale, math.nan, median)
    error = float(scaled.std(ddof=1)) / math.sqrt(len(numbers))
    half = float(special.stdtrit(len(numbers) - 1, 0.975)) * error
    return Average(mean * scale, half * scale, median)
