"""The one rule for "as good as the best": along a path, between fits of one set, forms, dictionaries and delays.

Comes in: the errors of every candidate on the same validation data, how complex it is, whether it stays in range. Goes
out: which one to take, the simplest that loses nothing which the data can show (D56, D79).

Errors are compared by their logarithm, so that horizons count alike though their errors differ by orders of magnitude,
and so that one rare excursion in one block does not decide. Nor do blocks in which little happens. Two candidates are
compared block by block, which cancels what is hard to predict for both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, stdtrit

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.evaluate.horizon_errors import clipped_errors
from koopsieve.forms.path import PathPoint

EQUAL = 1e-9  # mean logarithms closer than this are equal
PREDICTABLE = 0.1  # error of a free run, relative to the variance, below which it tells candidates apart
WORTH_A_TERM = 0.05  # mean logarithm of the error; less than five per cent is no reason for a more complex candidate
PRICE_OF_RANGE = math.e  # times the error that staying in range may cost
MAX_RATIO = 10.0  # times the least mean error; a candidate that is worse is not as good, whatever single blocks say
_ONE_SIGMA = ndtr(1.0)  # what lies below the mean and one standard error


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the validation data say of every candidate; the same blocks and runs for all.

    Parameters
    ----------
    errors : array, shape (candidates, horizons, blocks)
        Mean squared errors relative to the variance; blocks are stretches of one validation part, or folds.
    runs : array, shape (candidates, runs)
        Errors of free runs.
    complexity : sequence
        One value per candidate, anything that can be sorted: a number of terms, or a form and a number of terms.
    in_range : sequence of bool
        Whether free runs stay bounded with inputs beyond those of the data: see `stays_in_range`.
    """

    errors: FloatArray
    runs: FloatArray
    complexity: Sequence[int] | Sequence[tuple[int, ...]]
    in_range: Sequence[bool]

    @classmethod
    def of(
        cls, points: Sequence[PathPoint], complexity: Sequence[int] | Sequence[tuple[int, ...]] | None = None
    ) -> Evidence:
        """Return the evidence for points of one path or of several; the complexity of one path is the size."""
        sizes = [point.size for point in points] if complexity is None else complexity
        errors, runs = np.stack([point.errors.blocks for point in points]), np.stack([point.runs for point in points])
        return cls(errors, runs, sizes, [point.in_range for point in points])

    def only(self, some: IndexArray) -> Evidence:
        """Return the evidence for some of the candidates."""
        complexity, in_range = [self.complexity[i] for i in some], [self.in_range[i] for i in some]
        return Evidence(self.errors[some], self.runs[some], complexity, in_range)


def choose(evidence: Evidence) -> int:
    """Return the index of the simplest candidate that is as good as the best.

    Candidates that stay in range are preferred where the best of them is at most `PRICE_OF_RANGE` times worse. Of
    equally complex ones the better is taken, and of equal ones the first.
    """
    size = mean_size(evidence.errors)
    every = np.flatnonzero(size - size.min() <= np.log(MAX_RATIO))
    staying = every[np.asarray(evidence.in_range, dtype=bool)[every]]
    first = _simplest(evidence, every)
    if not staying.size or first in staying:
        return first
    other = _simplest(evidence, staying)
    return other if size[other] - size[first] <= np.log(PRICE_OF_RANGE) + EQUAL else first


def chosen_point(points: Sequence[PathPoint], most: int | None = None) -> int:
    """Return the index of the smallest point that is as good as the best.

    Parameters
    ----------
    points : sequence of PathPoint
        The smallest first.
    most : int, optional
        Only points with at most so many regressors count; where there is none, the smallest is taken.
    """
    return choose(Evidence.of([point for point in points if most is None or point.size <= most] or points[:1]))


def mean_size(errors: FloatArray) -> FloatArray:
    """Return the logarithm of each candidate's error, mean over the horizons."""
    size: FloatArray = np.log(clipped_errors(errors).mean(axis=2)).mean(axis=1)
    return size


def _simplest(evidence: Evidence, some: IndexArray) -> int:
    """Return which of some candidates to take."""
    order = np.array(sorted(some, key=lambda i: evidence.complexity[i]), dtype=np.intp)
    good, score = as_good(evidence.only(order))
    simplest = min(evidence.complexity[i] for i in order[good])
    alike = np.flatnonzero(good & [evidence.complexity[i] == simplest for i in order])
    return int(order[alike[_first_least(score[alike])]])


def as_good(evidence: Evidence) -> tuple[BoolArray, FloatArray]:
    """Tell which candidates are as good as the best, and return what they are ranked by; the simplest come first.

    Pooled over the horizons, the error must be as good as the least: see `excess`. At each horizon alone it must be so
    too, because a gain at one horizon must not be paid for at another; and in free runs, where the best candidate can
    be simulated at all. Where none passes all, those of the pooled best pass that miss the others by at most five per
    cent more than the one that misses them least.
    """
    logs = damped_logs(evidence.errors)
    pooled = logs.mean(axis=1)
    tests = [logs[:, h] for h in range(logs.shape[1])]
    if np.median(evidence.runs, axis=1).min() < PREDICTABLE:
        tests.append(damped_logs(evidence.runs[:, None])[:, 0])
    good = excess(pooled) <= EQUAL
    miss = np.where(good, np.max([excess(one, len(tests)) for one in tests], axis=0), np.inf)
    return miss <= max(0.0, float(miss.min()) + WORTH_A_TERM) + EQUAL, pooled.mean(axis=1)


def damped_logs(errors: FloatArray) -> FloatArray:
    """Return 2·log(e + m), e an error and m the least mean error of all candidates at that horizon: the ℓ of (D56).

    Near m it changes as log e does, far below m hardly at all, so that blocks in which little happens count little.
    """
    clipped = clipped_errors(errors)
    least = clipped.mean(axis=2).min(axis=0)
    damped: FloatArray = 2 * np.log(clipped + least[:, None])
    return damped


def excess(logs: FloatArray, tests: int = 1) -> FloatArray:
    """Return by how much each row of (candidates, blocks) is worse than the best, less what it may be (D56).

    It may be worse by one standard error of the difference, or by five per cent. The standard error counts no more than
    that of the best candidate alone: one that fails in one block does not gain from the spread which that gives its
    differences. A candidate that has to pass several tests may be worse by as much more as makes passing all of them as
    probable as passing one.
    """
    chance = 1 - (1 - _ONE_SIGMA) / tests
    best = logs[_first_least(logs.mean(axis=1))]
    alone = _standard_error(best, chance)
    return np.array(
        [np.mean(row - best) - max(min(_standard_error(row - best, chance), alone), WORTH_A_TERM) for row in logs]
    )


def paired_standard_error(mine: FloatArray, theirs: FloatArray) -> float:
    """Return the standard error of the mean difference of two models' blocks; zero where there is but one."""
    return _standard_error(mine - theirs)


def _first_least(values: FloatArray) -> int:
    """Return the index of the first value that equals the least, so that rounding does not tell equal ones apart."""
    return int(np.argmax(values <= values.min() + EQUAL))


def _standard_error(values: FloatArray, chance: float = _ONE_SIGMA) -> float:
    """Return what the mean is off by with this chance at most: one standard error, or 1.8 of them for two values.

    The factor is the quantile of Student's distribution.
    """
    count = values.size
    if count < 2:
        return 0.0
    return float(stdtrit(count - 1, chance) * np.std(values, ddof=1) / np.sqrt(count))
