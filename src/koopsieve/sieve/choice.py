"""Which model of several to take: the simplest that loses nothing which the validation windows can show.

Comes in: the error of every model at every horizon, block by block of windows, the same blocks for all. Errors are
compared by their logarithm, so that horizons count alike though their errors differ by orders of magnitude, and so that
one rare excursion in one block does not decide. Two models are compared block by block, which cancels what is hard to
predict for both.
"""

from __future__ import annotations

import numpy as np

from koopsieve._types import FloatArray

_ROUNDING, _DIVERGED = 1e-14, 1e100  # errors beyond these differ no more
_ALIKE = 1e-9  # mean logarithms closer than this are equal


def choose(blocks: FloatArray) -> int:
    """Return the first model whose error is within one standard error of the best.

    Two things must hold. Pooled over the horizons, the mean difference to the least error is within one standard error
    of that difference. And at each horizon alone it is within one standard error of the least there, or no larger than
    that of the last model: a gain at one horizon must not be paid for at another. Where none does both, the one of
    those that do the first that misses the second least is taken.

    Parameters
    ----------
    blocks : array, shape (models, horizons, number of blocks)
        Errors; the simplest model first and the most complex last.
    """
    logs = log_errors(blocks)
    good = excess(logs.mean(axis=1)) <= _ALIKE
    miss = np.max([_excess_or_last(logs[:, h]) for h in range(logs.shape[1])], axis=0)
    miss = np.where(good, miss, np.inf)
    return int(np.argmax(miss <= max(0.0, float(miss.min())) + _ALIKE))


def log_errors(blocks: FloatArray) -> FloatArray:
    """Return the logarithms of errors; below rounding and after divergence all are alike."""
    return np.log(np.clip(np.nan_to_num(blocks, nan=np.inf, posinf=np.inf), _ROUNDING, _DIVERGED))


def excess(logs: FloatArray) -> FloatArray:
    """Return by how much each row of (models, blocks) is worse than the best, less one standard error of that."""
    best = logs[int(np.argmin(logs.mean(axis=1)))]
    return np.array([np.mean(row - best) - paired_standard_error(row, best) for row in logs])


def paired_standard_error(mine: FloatArray, best: FloatArray) -> float:
    """Return the standard error of the mean difference of a model's blocks to those of the best; zero for one block.

    It is never larger than that of the best model alone: a model that fails in one block does not gain from the spread
    which that gives its differences.
    """
    gaps = (mine - best, best)
    return min(float(np.std(gap, ddof=1)) for gap in gaps) / np.sqrt(best.size) if best.size > 1 else 0.0


def _excess_or_last(logs: FloatArray) -> FloatArray:
    """Return the excess, or by how much each row is worse than the last, whichever is less."""
    least: FloatArray = np.minimum(excess(logs), (logs - logs[-1]).mean(axis=1))
    return least
