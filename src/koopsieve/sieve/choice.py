"""Which dictionary of a path to take: the smallest that loses nothing which the validation windows can show.

Comes in: the error of every dictionary at every horizon, block by block of windows. Errors are compared by their
logarithm, so that horizons count alike though their errors differ by orders of magnitude, and so that one rare
excursion in one block does not decide.
"""

from __future__ import annotations

import numpy as np

from koopsieve._types import BoolArray, FloatArray

_ROUNDING, _DIVERGED = 1e-14, 1e100  # errors beyond these differ no more


def choose(blocks: FloatArray) -> int:
    """Return the smallest dictionary whose error is within one standard error of the best.

    Two things must hold. Pooled over the horizons, the error is within one standard error of the least on the path. And
    at each horizon alone it is within one standard error of the least there, or no larger than that of everything: a
    gain at one horizon must not be paid for at another. Where none does both, of those that do the first the one that
    misses the second least is taken.

    Parameters
    ----------
    blocks : array, shape (points, horizons, number of blocks)
        Errors; the smallest dictionary first and everything last.
    """
    logs = log_errors(blocks)
    pooled = logs.mean(axis=1)
    good = _within(pooled)
    miss = np.max([_miss(logs[:, h]) for h in range(logs.shape[1])], axis=0)
    miss = np.where(good, miss, np.inf)
    return int(np.argmax(miss <= max(0.0, float(miss.min()))))


def log_errors(blocks: FloatArray) -> FloatArray:
    """Return the logarithms of errors; below rounding and after divergence all are alike."""
    return np.log(np.clip(np.nan_to_num(blocks, nan=np.inf, posinf=np.inf), _ROUNDING, _DIVERGED))


def _within(logs: FloatArray) -> BoolArray:
    """Tell which rows of (points, blocks) have a mean within one standard error of the least."""
    mean = logs.mean(axis=1)
    best = int(np.argmin(mean))
    within: BoolArray = mean <= mean[best] + _doubt(logs[best])
    return within


def _miss(logs: FloatArray) -> FloatArray:
    """Return by how much each row's mean is above what it may be: the least with its doubt, or that of the last row."""
    mean = logs.mean(axis=1)
    best = int(np.argmin(mean))
    miss: FloatArray = mean - max(mean[best] + _doubt(logs[best]), mean[-1])
    return miss


def _doubt(logs: FloatArray) -> float:
    """Return the standard error of the mean of blocks; zero where there is but one."""
    return float(np.std(logs, ddof=1) / np.sqrt(logs.size)) if logs.size > 1 else 0.0
