"""The one rule for "as good as the best": along a path, between fits of one set, forms, dictionaries and delays.

Comes in: the errors of every candidate on the same held-out data, how complex it is, whether it stays in range. Goes
out: which one to take, the simplest that loses nothing which the data can show (D56, D79).

A candidate has one score: the logarithm of its mean error, averaged over the horizons and free runs. A logarithm, so
that horizons count alike though their errors differ by orders of magnitude; of the mean, so that blocks count as much
as happens in them. Two candidates are compared block by block, which cancels what is hard to predict for both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, stdtrit

from koopsieve._types import BoolArray, FloatArray
from koopsieve.evaluate.horizon_errors import WindowErrors, clipped_errors
from koopsieve.forms.path import PathPoint

EQUAL = 1e-6  # scores closer than this are equal
WORTH_A_TERM = 2 * math.log(1.02)  # of the score: an error two per cent less is no reason for a more complex candidate
MAX_TOLERANCE = 0.2  # of the score that uncertainty may cost for the sake of a simpler candidate
PRICE_OF_RANGE = math.log(1.5)  # of the score that staying in range may cost
UNBOUNDED = math.log(100.0)  # what it costs to leave the range with the inputs of the data: taken if all do
UNRELATED = 2.0  # error, relative to the variance, of a prediction that is right but for its timing
CLEARLY, CLEAR_ERRORS = math.log(3.0), 3.0  # of the score, and standard errors: beyond both a candidate is worse
MAX_ERROR = 10.0  # beyond it a candidate is useless, however large the error
FAR_BETTER = 2.0  # times less squared error one step ahead: what tells an unstable plant from a bad model
WEIGHT_OF_ONE_STEP = 0.25  # one step ahead tells little of what a model is used for
WEIGHT_OF_RUNS = 3.0  # free runs hold all horizons
_ONE_SIGMA = ndtr(1.0)  # what lies below the mean and one standard error

Complexity = Sequence[int] | Sequence[tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the held-out data say of every candidate; the same blocks and runs for all.

    Parameters
    ----------
    errors : array, shape (candidates, horizons, blocks)
        Mean squared errors relative to the variance; blocks are stretches of one validation part, or of all folds.
    runs : array, shape (candidates, runs)
        Errors of free runs.
    complexity : sequence
        One value per candidate, anything that can be sorted: a number of terms, or a form and a number of terms.
    in_range : sequence of bool
        Whether free runs stay bounded with inputs beyond those of the data: see `stays_in_range`.
    bounded : sequence of bool
        Whether they do so with the inputs of the data.
    weights : sequence of float, optional
        Of the horizons; those of free runs is `WEIGHT_OF_RUNS`.
    each_horizon : bool
        Whether a simpler candidate must be as good at each horizon too: between sets of one path, which one refit may
        make equal at the long horizons though one of them is worse at the next step.
    """

    errors: FloatArray
    runs: FloatArray
    complexity: Complexity
    in_range: Sequence[bool]
    bounded: Sequence[bool]
    weights: Sequence[float] = ()
    each_horizon: bool = False

    @classmethod
    def of(cls, points: Sequence[PathPoint], complexity: Complexity | None = None, short: bool = False) -> Evidence:
        """Return the evidence for points of one path or of several; the complexity of one path is the size.

        With `short` only the shorter horizons count, and no free runs: an unstable plant has none.
        """
        sizes = [point.size for point in points] if complexity is None else complexity
        errors = np.stack([point.errors.blocks for point in points])
        runs = np.stack([at_least(point.runs, point.whole_runs) for point in points])
        weights = horizon_weights(points[0].errors.horizons)
        if short:
            return cls.at_short_horizons(errors, sizes)
        stays = [point.in_range for point in points], [point.bounded for point in points]
        return cls(errors, runs, sizes, *stays, weights, each_horizon=complexity is None)

    @classmethod
    def at_short_horizons(cls, errors: FloatArray, complexity: Complexity) -> Evidence:
        """Return the evidence of the shorter horizons alone."""
        yes, count = [True] * len(errors), (errors.shape[1] + 1) // 2
        return cls(errors[:, :count], errors[:, count - 1], complexity, yes, yes)

    @property
    def tests(self) -> list[FloatArray]:
        """Errors (candidates, blocks) at every horizon, then of the free runs, as far as they tell candidates apart."""
        return [informative(one) for one in (*np.moveaxis(self.errors, 1, 0), self.runs)]

    @property
    def shares(self) -> FloatArray:
        """How much each horizon and the free runs count; the sum is one."""
        weights = np.array([*(self.weights or [1.0] * self.errors.shape[1]), WEIGHT_OF_RUNS])
        shares: FloatArray = weights / weights.sum()
        return shares


def at_least(runs: FloatArray, whole: float) -> FloatArray:
    """Return errors of free runs, none of them learned from, made larger where runs along whole episodes are worse.

    Held-out stretches may be too short to show how errors grow; episodes that were learned from show it (D56).
    """
    mean = runs.mean()
    return runs * (whole / mean) if 0 < mean < whole else runs


def horizon_weights(horizons: Sequence[int]) -> tuple[float, ...]:
    """Return how much each horizon counts: one step little, unless it was asked for alone."""
    return tuple(WEIGHT_OF_ONE_STEP if h == 1 and len(horizons) > 1 else 1.0 for h in horizons)


def choose(evidence: Evidence) -> int:
    """Return the index of the simplest candidate that is as good as the best.

    It is as good if its score is above the least by no more than the standard error of the difference, or by two per
    cent of the root mean square error. Of equally complex ones the better is taken, and of equal ones the first.
    """
    score = scores(evidence)
    good = np.flatnonzero(_excess(evidence, score) <= EQUAL).tolist()
    simplest = min(evidence.complexity[i] for i in good)
    alike = np.array([i for i in good if evidence.complexity[i] == simplest])
    return int(alike[_first_least(score[alike])])


def chosen_point(points: Sequence[PathPoint], most: int | None = None) -> int:
    """Return the index of the smallest point that is as good as the best; points stand in order of size.

    Only points with at most `most` regressors count; where there is none, the smallest is taken.
    """
    return choose(Evidence.of([point for point in points if most is None or point.size <= most] or points[:1]))


def scores(evidence: Evidence) -> FloatArray:
    """Return the logarithm of every candidate's mean error, averaged, and the price of leaving the range (D56)."""
    score: FloatArray = np.stack([np.log(one.mean(axis=1)) for one in evidence.tests], axis=1) @ evidence.shares
    return score + np.where(evidence.in_range, 0.0, PRICE_OF_RANGE) + np.where(evidence.bounded, 0.0, UNBOUNDED)


def clearly_worse(evidence: Evidence, by: float = CLEARLY) -> BoolArray:
    """Tell which candidates are worse than the best threefold, and by three standard errors of the difference.

    With `by` another difference of the scores than that counts. One run does not show how uncertain it is: it counts as
    uncertain as the most uncertain horizon.
    """
    score = scores(evidence)
    best = _first_least(score)
    doubt = _differences(evidence, best)[1]
    if evidence.runs.shape[1] == 1:
        doubt[-1] = doubt[:-1].max(axis=0)
    worse: BoolArray = score - score[best] > np.maximum(by, CLEAR_ERRORS * (evidence.shares @ doubt))
    return worse


def seems_unstable(next_step: Sequence[float], taken: WindowErrors) -> bool:
    """Tell whether linear models with a pole outside the unit circle betray an unstable plant, logged under feedback.

    Then long runs favour a false, stable model, and the next sample is predicted far better by those. `next_step` are
    their errors one step ahead, `taken` those of the model that would be taken.
    """
    return bool(next_step) and taken.horizons[0] == 1 and min(next_step) * FAR_BETTER < taken.error[0]


def informative(errors: FloatArray) -> FloatArray:
    """Return errors as far as they tell candidates apart.

    Between 1, that of the mean, and 2, that of another record of the same plant, they do not: a chaotic plant has these
    however good the model is. Beyond `MAX_ERROR` all are alike.
    """
    clipped = clipped_errors(errors)
    return np.minimum(clipped, np.clip(clipped / UNRELATED, 1.0, MAX_ERROR))


def _excess(evidence: Evidence, score: FloatArray) -> FloatArray:
    """Return by how much each score is above the least, less what it may be (D56)."""
    best = _first_least(score)
    loss, doubt = _differences(evidence, best)
    excess: FloatArray = score - score[best] - _tolerance(evidence.shares @ doubt)
    if evidence.each_horizon:
        excess = np.maximum(excess, (loss - _tolerance(doubt))[:-1].max(axis=0))
    return excess


def _differences(evidence: Evidence, best: int) -> tuple[FloatArray, FloatArray]:
    """Return how much worse than the best each candidate is in every test, and the standard errors of that.

    The standard error counts no more than that of the best candidate alone: one that fails in one block does not gain
    from the spread which that gives its differences.
    """
    loss, doubt = np.zeros((2, len(evidence.shares), len(evidence.errors)))
    for t, errors in enumerate(evidence.tests):
        mean = errors.mean(axis=1, keepdims=True)
        relative = errors / mean  # a change of it is one of the logarithm of the mean
        alone = _standard_error(relative[best])
        loss[t] = np.log(mean / mean[best])[:, 0]
        doubt[t] = [min(_standard_error(row - relative[best]), alone) for row in relative]
    return loss, doubt


def _tolerance(standard_error: FloatArray) -> FloatArray:
    """Return what a simpler candidate may lose."""
    allowed: FloatArray = np.clip(standard_error, WORTH_A_TERM, MAX_TOLERANCE)
    return allowed


def interval_reach(values: FloatArray) -> float:
    """Return how far the 90 % interval of the mean of blocks reaches to either side; inf where there is but one."""
    return _standard_error(values, 0.95) if values.size > 1 else math.inf


def _first_least(values: FloatArray) -> int:
    """Return the index of the first value that equals the least, so that rounding does not tell equal ones apart."""
    return int(np.argmax(values <= values.min() + EQUAL))


def _standard_error(values: FloatArray, chance: float = _ONE_SIGMA) -> float:
    """Return one standard error of the mean, wider by Student's quantile: 1.8 of them for two values."""
    count = values.size
    if count < 2:
        return 0.0
    return float(stdtrit(count - 1, chance) * np.std(values, ddof=1) / np.sqrt(count))
