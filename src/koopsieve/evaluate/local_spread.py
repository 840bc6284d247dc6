"""After which starts predictions err more: ridge regression of the logarithm of the error on the observables.

Comes in: errors along held-out windows. Goes out: a `LocalSpread` fitted to all of them, and the scale of each window
by fits that had not seen it or its neighbours. Where such fits explain next to nothing the scale is one. See (D57).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.dictionary import Dictionary
from koopsieve.evaluate.along import ErrorsAlong
from koopsieve.model.bands import calibration_steps
from koopsieve.model.interpolate import at_steps
from koopsieve.model.spread import MAX_LOG_SCALE, LocalSpread

FOLDS = 5
MAX_FEATURES = 40
LEAST_GAIN = 0.02  # of the variance of the log error that fits must explain on windows they have not seen
_RIDGES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)  # times the mean variance of a feature
_FLOOR, _CEILING = 0.1, 1e3  # times the median error: a prediction that happens to be exact, or that diverged


def fit_spread(errors: ErrorsAlong, dictionary: Dictionary) -> tuple[LocalSpread | None, FloatArray]:
    """Return how the spread depends on the start, None if it does not, and the scale of every error.

    Returns
    -------
    LocalSpread or None
    scale : array, shape (windows, horizon, n_outputs)
        Of each window by a fit to the other folds; ones if there is no dependence.
    """
    _, horizon, outputs = errors.errors.shape
    steps = calibration_steps(horizon)  # close together, since what is hard to predict turns with the motion
    plain = _principal(errors, dictionary, steps, outputs)
    features = plain.features(dictionary, errors.states)
    weights = plain.weights.copy()
    logs = np.zeros((len(steps), len(features), outputs))
    for s, step in enumerate(steps):
        rows = errors.reaching(int(step))
        weights[s], logs[s, rows] = _fit(features[rows], np.abs(errors.errors[rows, step - 1]))
    if not weights.any():
        return None, np.ones((1, 1, 1))
    along = at_steps(steps, logs, np.arange(1, horizon + 1)).transpose(1, 0, 2)
    local = LocalSpread(steps, plain.center, plain.projection, weights)
    return local, np.exp(np.clip(along, -MAX_LOG_SCALE, MAX_LOG_SCALE))


def _principal(errors: ErrorsAlong, dictionary: Dictionary, steps: IndexArray, outputs: int) -> LocalSpread:
    """Return a spread without weights whose features are the leading principal components of the observables."""
    sample = errors.states[:: max(1, len(errors.starts) // 5000)]
    lifted = dictionary(sample)
    center, deviation = lifted.mean(axis=0), lifted.std(axis=0)
    scale = np.where(deviation > 1e-9 * np.abs(center).max(initial=0.0), deviation, np.inf)
    _, _, directions = np.linalg.svd((lifted - center) / scale, full_matrices=False)
    projection = directions[:MAX_FEATURES].T / scale[:, None]
    return LocalSpread(steps, center, projection, np.zeros((len(steps), outputs, projection.shape[1])))


def _fit(features: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return per output weights fitted to all windows, and the log scale of each by a fit to the other folds.

    Parameters
    ----------
    features : array, shape (windows, r)
    errors : array, shape (windows, n_outputs)

    Returns
    -------
    weights : array, shape (n_outputs, r)
    logs : array, shape (windows, n_outputs)
    """
    target, usable = _log_errors(errors)
    slices = np.array_split(np.arange(len(target)), FOLDS)  # consecutive windows, which are alike, in one fold
    folds = [Moments.of(features[rows], target[rows]) for rows in slices]
    whole = sum(folds[1:], start=folds[0])
    unseen = [(rows, whole - one) for rows, one in zip(slices, folds, strict=True)]
    left = np.concatenate([target[rows] - rest.mean for rows, rest in unseen])
    fits = [np.concatenate([features[rows] @ rest.weights(ridge) for rows, rest in unseen]) for ridge in _RIDGES]
    missed = np.array([np.sum((left - fit) ** 2, axis=0) for fit in fits])
    helps = usable & (missed.min(axis=0) <= (1 - LEAST_GAIN) * np.sum(left**2, axis=0))
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
    return np.log(np.minimum(errors, _CEILING * unit) + _FLOOR * unit), usable


@dataclass(frozen=True, eq=False)
class Moments:
    """What ridge regression needs of windows: XᵀX, Xᵀt, sums of both, and their number."""

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
