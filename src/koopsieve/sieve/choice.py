"""Which model of several to take: the simplest that loses nothing which the validation windows can show.

Comes in: the error of every model at every horizon, block by block of windows, the same blocks for all. Errors are
compared by their logarithm, so that horizons count alike though their errors differ by orders of magnitude, and so that
one rare excursion in one block does not decide. Nor do blocks in which little happens: a model that is good there and
bad where the outputs move has a small mean logarithm and a large mean error. Two models are compared block by block,
which cancels what is hard to predict for both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import ndtr, stdtrit

from koopsieve._types import FloatArray

_ROUNDING, _DIVERGED = 1e-14, 1e100  # errors beyond these differ no more
_ALIKE = 1e-9  # mean logarithms closer than this are equal
_ONE_SIGMA = ndtr(1.0)  # what lies below the mean and one standard error
PREDICTABLE = 0.1  # error of a free run, relative to the variance, below which it tells models apart
PRICE_OF_RANGE = 1.0  # mean logarithm of the error that staying in range may cost
WORTH_A_TERM = 0.05  # mean logarithm of the error; less than five per cent is no reason for a larger model


def choose(blocks: FloatArray, runs: FloatArray | None = None) -> int:
    """Return the first model whose error is as good as the best, as far as the blocks can tell.

    Three things must hold. Pooled over the horizons, the error is as good as the least: see `excess`. At each horizon
    alone it is: a gain at one horizon must not be paid for at another. And free runs are as good as the best ones.
    Where none does all, of those that do the first, the simplest is taken that misses the others by at most five per
    cent more than the one that misses them least.

    Parameters
    ----------
    blocks : array, shape (models, horizons, number of blocks)
        Errors; the simplest model first and the most complex last.
    runs : array, shape (models, number of runs), optional
        Errors of free runs. They count where the best model can be simulated at all: a chaotic plant cannot.
    """
    logs = damped_logs(blocks)
    good = excess(logs.mean(axis=1)) <= _ALIKE
    miss = np.where(good, np.max(_misses(logs, runs), axis=0), np.inf)
    return int(np.argmax(miss <= max(0.0, float(miss.min()) + WORTH_A_TERM) + _ALIKE))


def simplest_as_good(blocks: Sequence[FloatArray], runs: Sequence[FloatArray]) -> int:
    """Return the first model that is as good as the best: pooled over the horizons, at each of them, in free runs.

    Where none is in everything, the one that misses it least.

    Parameters
    ----------
    blocks : sequence of arrays, each (horizons, number of blocks)
        Errors; the simplest model first.
    runs : sequence of arrays, each (number of runs,)
        Errors of free runs.
    """
    logs = log_errors(np.stack(blocks))
    miss = np.max([excess(logs.mean(axis=1)), *_misses(logs, np.stack(runs))], axis=0)
    return int(np.argmax(miss <= max(0.0, float(miss.min())) + _ALIKE))


def preferring_in_range(
    choose: Callable[[list[int]], int], blocks: Sequence[FloatArray] | FloatArray, in_range: Sequence[bool]
) -> int:
    """Return what is chosen of all models, or of those that stay in range if that costs at most a factor e (D79).

    Parameters
    ----------
    choose : callable
        Takes the indices of some models and returns one of them.
    blocks : sequence of arrays, each (horizons, number of blocks)
        Errors of all models.
    in_range : sequence of bool
        Whether each stays bounded with inputs beyond those of the data: see `stays_in_range`.
    """
    first = choose(list(range(len(blocks))))
    staying = [i for i, stays in enumerate(in_range) if stays]
    if in_range[first] or not staying:
        return first
    other = choose(staying)
    price = np.mean(log_errors(blocks[other]) - log_errors(blocks[first]))
    return other if price <= PRICE_OF_RANGE else first


def as_good_at_each(mine: FloatArray, theirs: FloatArray) -> bool:
    """Tell whether a model is as good as another at every horizon, as far as the blocks (horizons, blocks) can tell."""
    logs = log_errors(np.stack([mine, theirs]))
    return all(excess(logs[:, h])[0] <= _ALIKE for h in range(logs.shape[1]))


def _misses(logs: FloatArray, runs: FloatArray | None) -> list[FloatArray]:
    """Return the excess of every model at each horizon, and of its free runs if they count."""
    simulated = runs is not None and _can_be_simulated(runs)
    tests = logs.shape[1] + simulated
    misses = [excess(logs[:, h], tests) for h in range(logs.shape[1])]
    return [*misses, excess(log_errors(runs), tests)] if runs is not None and simulated else misses


def _can_be_simulated(runs: FloatArray) -> bool:
    """Tell whether the median run of some model explains nine tenths of what the outputs do."""
    return bool(np.median(runs, axis=1).min() < PREDICTABLE)


def log_errors(blocks: FloatArray) -> FloatArray:
    """Return the logarithms of errors; below rounding and after divergence all are alike."""
    return np.log(np.clip(np.nan_to_num(blocks, nan=np.inf, posinf=np.inf), _ROUNDING, _DIVERGED))


def damped_logs(blocks: FloatArray) -> FloatArray:
    """Return 2·log(e + m), e an error and m the least mean error of all models at that horizon: the ℓ of (D56).

    Near m it changes as log e does, far below m hardly at all, so that blocks in which little happens count little.
    """
    errors = np.exp(log_errors(blocks))
    least = errors.mean(axis=2).min(axis=0)
    damped: FloatArray = 2 * np.log(errors + least[:, None])
    return damped


def excess(logs: FloatArray, tests: int = 1) -> FloatArray:
    """Return by how much each row of (models, blocks) is worse than the best, less what it may be (D56).

    It may be worse by one standard error of the difference, or by five per cent. The standard error counts no more than
    that of the best model alone: a model that fails in one block does not gain from the spread which that gives its
    differences. Where a model has to pass several tests it may be worse by as much more as makes passing all of them
    as probable as passing one.
    """
    chance = 1 - (1 - _ONE_SIGMA) / tests
    best = logs[int(np.argmin(logs.mean(axis=1)))]
    alone = _standard_error(best, chance)
    return np.array(
        [np.mean(row - best) - max(min(_standard_error(row - best, chance), alone), WORTH_A_TERM) for row in logs]
    )


def paired_standard_error(mine: FloatArray, theirs: FloatArray) -> float:
    """Return the standard error of the mean difference of two models' blocks; zero where there is but one."""
    return _standard_error(mine - theirs)


def _standard_error(values: FloatArray, chance: float = _ONE_SIGMA) -> float:
    """Return what the mean is off by with this chance at most: one standard error, or 1.8 of them for two values.

    The factor is the quantile of Student's distribution.
    """
    count = values.size
    if count < 2:
        return 0.0
    return float(stdtrit(count - 1, chance) * np.std(values, ddof=1) / np.sqrt(count))
