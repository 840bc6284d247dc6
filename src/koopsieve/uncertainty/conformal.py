"""Bands from held-out windows: half-widths that cover the stated share of windows which had no part in them.

Comes in: a model and data that it has not learned from. Goes out: `Bands` per step, output and level.

Split conformal prediction takes the quantile of the errors on held-out windows. Windows overlap, so N of them tell far
less than N independent ones, and the quantile covers less of new data than its level says. How much less is measured:
windows are put in blocks, the quantile of all other blocks is tried on each, and the level is raised until the share
covered there is the one asked for. Errors are first divided by a spread that depends on the start: a ridge regression
of the logarithm of the error on the observables, fitted without the windows that it is applied to. Where such fits
explain next to nothing the spread is one. See (D57) to (D60) in docs/derivation.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.dictionary import Dictionary
from koopsieve.evaluate.rollout import StepErrors
from koopsieve.uncertainty.bands import (
    LEVELS,
    MAX_LOG_SCALE,
    SHAPE_LEVEL,
    Bands,
    LocalSpread,
    at_level,
    at_steps,
    calibration_steps,
)

BLOCK_HORIZONS = 2  # length of a block of windows, in horizons, at least
MAX_BLOCKS = 50
FOLDS = 5
MAX_FEATURES = 40  # principal components of the observables in the fit of the spread
MIN_EXPLAINED = 0.02  # share of the variance of the log error that fits must explain on windows they have not seen
_RIDGES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)  # times the mean variance of a feature
_ERROR_OFFSET, _MAX_ERROR = 0.1, 1e3  # times the median error: for predictions that are exact, or that diverged


def bands_from(errors: StepErrors, dictionary: Dictionary) -> Bands:
    """Return bands up to the errors' horizon, their width a function of the start: (D60)."""
    steps = calibration_steps(errors.horizon)
    local, scale = fit_spread(errors, dictionary)
    scores = np.abs(errors.errors) / scale
    widths = np.stack([_marginal(scores[:, h - 1], errors, int(h)) for h in steps])
    shape = at_steps(steps, at_level(widths, SHAPE_LEVEL), np.arange(1, errors.horizon + 1))
    largest = np.maximum.accumulate(np.max(_ratio(scores, shape), axis=2), axis=1)
    joint = np.stack([_quantiles(largest[:, h - 1], errors, int(h)) for h in steps])
    windows = np.array([errors.separate_windows(int(h)) for h in steps])
    return Bands(steps, widths, joint, windows, local)


def _marginal(scores: FloatArray, errors: StepErrors, horizon: int) -> FloatArray:
    """Return the half-widths at one step from scores (windows, n_outputs), shape (n_outputs, levels)."""
    return np.stack([_quantiles(column, errors, horizon) for column in scores.T])


def _quantiles(scores: FloatArray, errors: StepErrors, horizon: int) -> FloatArray:
    """Return the scores that new windows stay below with the probability of each level: (D59)."""
    reaching = errors.reaching(horizon)
    values = scores[reaching]
    levels = order_statistic(held_out_ranks(values, blocks(errors, reaching, horizon)), LEVELS)
    found: FloatArray = np.where(LEVELS == 0, 0.0, order_statistic(values, levels))
    return found


def held_out_ranks(scores: FloatArray, block: IndexArray) -> FloatArray:
    """Return for each score the share of those in other blocks that are not larger: (D58).

    The quantile at p of the other blocks covers a score if its rank is at most p. So the share covered is level where p
    is the quantile of the ranks at that level.
    """
    among_all = np.searchsorted(np.sort(scores), scores, side="right")
    ranks = np.empty(len(scores))
    for one in np.unique(block):
        mine = np.flatnonzero(block == one)
        own = np.searchsorted(np.sort(scores[mine]), scores[mine], side="right")
        ranks[mine] = (among_all[mine] - own) / max(len(scores) - len(mine), 1)
    return ranks


def blocks(errors: StepErrors, windows: IndexArray, horizon: int) -> IndexArray:
    """Return the number of each window's block: stretches of two horizons or longer, within one episode each.

    There are fifty at most, of which one may then hold several short episodes, and at least two.
    """
    lengths = np.array([max(0, len(x) - horizon) for x in errors.data.states])
    longest = max(BLOCK_HORIZONS * horizon, int(lengths.sum()) // MAX_BLOCKS)
    counts = np.maximum(1, lengths // longest)
    if np.sum(counts[lengths > 0]) < 2:
        counts = np.full(len(counts), 2)
    episode = errors.episodes[windows]
    within = errors.starts[windows] * counts[episode] // lengths[episode]
    number: IndexArray = np.cumsum(counts)[episode] - counts[episode] + within
    total = int(counts.sum())
    return number * min(total, MAX_BLOCKS) // total


def order_statistic(values: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the smallest value that at least the given share of all values does not exceed."""
    ordered = np.sort(values)
    index = np.clip(np.ceil(shares * len(ordered) - 1e-9).astype(int) - 1, 0, len(ordered) - 1)
    found: FloatArray = ordered[index]
    return found


def _ratio(errors: FloatArray, shape: FloatArray) -> FloatArray:
    """Return the errors in units of the band; an error of zero is zero in any unit."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = errors / shape
    ratio = np.where(np.isinf(shape), 0.0, ratio)  # an infinite band holds everything
    return np.where(errors == 0, 0.0, np.where(np.isnan(errors), np.nan, ratio))


def fit_spread(errors: StepErrors, dictionary: Dictionary) -> tuple[LocalSpread | None, FloatArray]:
    """Return the spread as a function of the start, None if it does not depend on it, and the scale of every error.

    The scale (windows, horizon, n_outputs) of each window is that of a fit to the other folds; ones without dependence.
    """
    _, horizon, outputs = errors.errors.shape
    steps = calibration_steps(horizon)
    plain = _principal(errors, dictionary, steps, outputs)
    features = plain.features(dictionary, errors.states)
    weights = plain.weights.copy()
    logs = np.zeros((len(steps), len(features), outputs))
    for s, step in enumerate(steps):
        rows = errors.reaching(int(step))
        weights[s], logs[s, rows] = _fit(features[rows], np.abs(errors.errors[rows, step - 1]))
    if not weights.any():
        return None, np.ones((1, 1, 1))
    log_scale = at_steps(steps, logs, np.arange(1, horizon + 1)).transpose(1, 0, 2)
    local = LocalSpread(steps, plain.center, plain.projection, weights)
    return local, np.exp(np.clip(log_scale, -MAX_LOG_SCALE, MAX_LOG_SCALE))


def _principal(errors: StepErrors, dictionary: Dictionary, steps: IndexArray, outputs: int) -> LocalSpread:
    """Return a spread without weights whose features are the leading principal components of the observables."""
    sample = errors.states[:: max(1, len(errors.starts) // 5000)]
    lifted = dictionary(sample)
    center, deviation = lifted.mean(axis=0), lifted.std(axis=0)
    scale = np.where(deviation > 1e-9 * np.abs(center).max(initial=0.0), deviation, np.inf)
    _, _, directions = np.linalg.svd((lifted - center) / scale, full_matrices=False)
    projection = directions[:MAX_FEATURES].T / scale[:, None]
    return LocalSpread(steps, center, projection, np.zeros((len(steps), outputs, projection.shape[1])))


def _fit(features: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return per output weights fitted to all windows, and the log scale of each window by a fit to the other folds.

    Features are (windows, r), errors and log scales (windows, n_outputs), weights (n_outputs, r).
    """
    target, usable = _log_errors(errors)
    slices = np.array_split(np.arange(len(target)), FOLDS)  # consecutive windows, which are alike, in one fold
    folds = [Moments.of(features[rows], target[rows]) for rows in slices]
    whole = sum(folds[1:], start=folds[0])
    unseen = [(rows, whole - one) for rows, one in zip(slices, folds, strict=True)]
    left = np.concatenate([target[rows] - rest.mean for rows, rest in unseen])
    fits = [np.concatenate([features[rows] @ rest.weights(ridge) for rows, rest in unseen]) for ridge in _RIDGES]
    missed = np.array([np.sum((left - fit) ** 2, axis=0) for fit in fits])
    helps = usable & (missed.min(axis=0) <= (1 - MIN_EXPLAINED) * np.sum(left**2, axis=0))
    weights, logs = np.zeros((errors.shape[1], features.shape[1])), np.zeros(target.shape)
    for output in np.flatnonzero(helps):
        best = int(np.argmin(missed[:, output]))
        weights[output], logs[:, output] = whole.weights(_RIDGES[best])[:, output], fits[best][:, output]
    return weights, logs


def _log_errors(errors: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return the logarithms of errors, none far from the median, and which outputs have enough that are finite."""
    middle = np.median(errors, axis=0)
    usable = (middle > 0) & np.isfinite(middle) & (len(errors) > FOLDS)
    unit = np.where(usable, middle, 1.0)
    return np.log(np.minimum(errors, _MAX_ERROR * unit) + _ERROR_OFFSET * unit), usable


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over windows for ridge regression: XᵀX, Xᵀt, X and t summed over the rows, and their number."""

    gram: FloatArray
    cross: FloatArray
    features: FloatArray
    targets: FloatArray
    rows: int

    @classmethod
    def of(cls, X: FloatArray, t: FloatArray) -> Moments:
        """Return the moments of features (windows, r) and targets (windows, n_outputs)."""
        return cls(X.T @ X, X.T @ t, X.sum(axis=0), t.sum(axis=0), len(X))

    def __add__(self, other: Moments) -> Moments:
        return Moments(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))

    def __sub__(self, other: Moments) -> Moments:
        return Moments(*(a - b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))

    @property
    def mean(self) -> FloatArray:
        """Mean of the targets, shape (n_outputs,)."""
        return self.targets / max(self.rows, 1)

    def weights(self, ridge: float) -> FloatArray:
        """Return (XᵀX + ridge·mean square·I)⁻¹ Xᵀ(t − mean), shape (r, n_outputs)."""
        size = float(np.trace(self.gram)) / max(len(self.gram), 1)
        gram = self.gram + (ridge * size + np.finfo(float).tiny) * np.eye(len(self.gram))
        found: FloatArray = np.linalg.solve(gram, self.cross - np.outer(self.features, self.mean)).astype(float)
        return found
