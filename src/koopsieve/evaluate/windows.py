"""Errors of a model's predictions window by window, and how sure their mean is.

Comes in: a model and validation trajectories. Goes out: per horizon the mean NMSE over the outputs, its standard error,
and the errors of consecutive blocks of windows. Windows overlap, so neighbouring errors are alike; blocks are at least
as long as the longest horizon, and are the same for every model and every horizon, so that models can be compared
block by block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from koopsieve._display import Facts, Shown
from koopsieve._types import FloatArray, sorted_horizons
from koopsieve._words import number
from koopsieve.data import Trajectories
from koopsieve.evaluate.ahead import Comparison, Predictor

_MAX_BLOCKS = 50
_LARGEST_ERROR = 1e300  # above it the mean of several would overflow


@dataclass(frozen=True, eq=False, repr=False)
class WindowErrors(Shown):
    """Mean NMSE over the outputs at each horizon, with its standard error over blocks of windows.

    Parameters
    ----------
    horizons : tuple of int
    error, standard_error : array, shape (len(horizons),)
        inf where predictions diverge; the standard error is nan where there is a single block.
    blocks : array, shape (len(horizons), number of blocks)
        The mean of each block of windows.
    """

    horizons: tuple[int, ...]
    error: FloatArray
    standard_error: FloatArray
    blocks: FloatArray

    def score(self, emphasis: float) -> float:
        """Return the mean logarithm of the error, horizon h weighted as h to the power `emphasis`; inf if one diverges.

        Models of one size are ranked by it: a logarithm, because errors differ by orders of magnitude over horizons.
        """
        weight = np.asarray(self.horizons, dtype=float) ** emphasis
        return float(weight @ np.log(np.maximum(self.error, 1e-300)) / np.sum(weight))

    def _facts(self) -> Facts:
        return {"horizons": ", ".join(map(str, self.horizons)), "NMSE": ", ".join(map(number, self.error))}


def window_errors(model: Predictor, trajectories: Trajectories, horizons: Sequence[int]) -> WindowErrors:
    """Predict from every start of every episode and return the error at each horizon.

    The mean over windows of Σ_outputs (y − ŷ)²/variance(y) / n_outputs: the mean over outputs of `horizon_nmse`. An
    output that never changes so many steps ahead is compared with its magnitude instead.
    """
    wanted, comparison = sorted_horizons(horizons), Comparison.of(model, trajectories)
    variance = {h: _variance(comparison, h) for h in wanted}
    pieces: dict[int, list[tuple[int, int, FloatArray]]] = {h: [] for h in wanted}
    for episode, first, h, squared in comparison.squared(wanted):
        with np.errstate(over="ignore"):
            pieces[h].append((episode, first, np.mean(squared / variance[h], axis=1)))
    windows = [_in_order(pieces[h]) for h in wanted]
    count = min(_MAX_BLOCKS, max(1, min(map(len, windows)) // max(wanted)))
    blocks = np.array([[block.mean() for block in np.array_split(one, count)] for one in windows])
    error = np.array([one.mean() for one in windows])
    return WindowErrors(wanted, error, _standard_error(blocks), blocks)


def _variance(comparison: Comparison, horizon: int) -> FloatArray:
    """Return the variance of every output so many steps ahead; one for an output that never changes."""
    spread, count = comparison.spread(horizon)
    return np.where(spread > 0, spread / count, 1.0)


def _in_order(pieces: list[tuple[int, int, FloatArray]]) -> FloatArray:
    """Return the error of every window at one horizon, in the order of time; a huge one counts as infinite."""
    ordered = sorted(pieces, key=lambda piece: piece[:2])
    windows = np.concatenate([errors for _, _, errors in ordered])
    return np.where(windows < _LARGEST_ERROR, windows, np.inf)


def _standard_error(blocks: FloatArray) -> FloatArray:
    count = blocks.shape[1]
    if count < 2:
        return np.full(len(blocks), np.nan)
    whole = np.isfinite(blocks).all(axis=1)
    spread = np.full(len(blocks), np.inf)
    with np.errstate(over="ignore"):  # of errors beyond 1e154 it is infinite
        spread[whole] = np.std(blocks[whole], axis=1, ddof=1) / np.sqrt(count)
    return spread
