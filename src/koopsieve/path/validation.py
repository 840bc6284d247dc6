"""Errors of a model's predictions window by window, and how sure their mean is.

Comes in: a model and validation trajectories. Goes out: per horizon the mean NMSE over the outputs and its standard
error. Windows overlap, so neighbouring errors are alike; the standard error is that of the means of consecutive blocks,
each at least as long as the longest horizon.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.data import Trajectories
from koopsieve.model import LiftedModel

_MOST_BLOCKS = 50


@dataclass(frozen=True, eq=False)
class WindowErrors:
    """Mean NMSE over the outputs at each horizon, with its standard error over blocks of windows.

    Parameters
    ----------
    horizons : tuple of int
    error, standard_error : array, shape (len(horizons),)
        inf where predictions diverge; the standard error is nan where there is a single block.
    """

    horizons: tuple[int, ...]
    error: FloatArray
    standard_error: FloatArray

    def score(self, emphasis: float) -> float:
        """Return the mean logarithm of the error, horizon h weighted as h to the power `emphasis`; inf if one diverges.

        Models of one size are ranked by it: a logarithm, because errors differ by orders of magnitude over horizons.
        """
        weight = np.asarray(self.horizons, dtype=float) ** emphasis
        return float(weight @ np.log(np.maximum(self.error, 1e-300)) / np.sum(weight))


def window_errors(model: LiftedModel, trajectories: Trajectories, horizons: Sequence[int]) -> WindowErrors:
    """Predict from every start of every episode and return the error at each horizon.

    The mean over windows of Σ_outputs (y − ŷ)²/variance(y) / n_outputs; averaged over outputs this is `horizon_nmse`.
    """
    wanted = tuple(int(h) for h in horizons)
    columns = [trajectories.state_names.index(name) for name in model.output_names]
    pieces: dict[int, list[tuple[int, int, FloatArray]]] = {h: [] for h in wanted}
    for episode, first, h, predicted in model.predictions(trajectories, wanted):
        true = trajectories.states[episode][first + h :][: len(predicted), columns]
        with np.errstate(over="ignore", invalid="ignore"):
            squared = (true - predicted) ** 2
        pieces[h].append((episode, first, np.where(np.isnan(squared), np.inf, squared)))
    found = [_at(pieces[h], _variance(trajectories, h, columns), max(wanted)) for h in wanted]
    return WindowErrors(wanted, np.array([error for error, _ in found]), np.array([spread for _, spread in found]))


def _variance(trajectories: Trajectories, horizon: int, columns: list[int]) -> FloatArray:
    variance: FloatArray = np.var(np.concatenate([x[horizon:, columns] for x in trajectories.states]), axis=0)
    return np.where(variance > 0, variance, 1.0)


def _at(pieces: list[tuple[int, int, FloatArray]], variance: FloatArray, longest: int) -> tuple[float, float]:
    """Return mean and standard error at one horizon."""
    ordered = sorted(pieces, key=lambda piece: piece[:2])
    with np.errstate(over="ignore"):
        windows = np.concatenate([np.mean(squared / variance, axis=1) for _, _, squared in ordered])
        error = float(np.mean(windows))
    if not np.isfinite(error):
        return np.inf, np.inf
    count = min(_MOST_BLOCKS, len(windows) // longest)
    if count < 2:
        return error, np.nan
    means = np.array([block.mean() for block in np.array_split(windows, count)])
    return error, float(np.std(means, ddof=1) / np.sqrt(count))
