"""How much wider or narrower the bands are after one start than after another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.dictionary import Dictionary
from koopsieve.model.interpolate import at_steps
from koopsieve.model.rollout import chunks

MAX_LOG_SCALE = 2.0  # bands are never made wider or narrower than by e²


@dataclass(frozen=True, eq=False)
class LocalSpread:
    """The logarithm of the error's size as a linear function of the observables at the start.

    Parameters
    ----------
    steps : array of int, shape (m,)
        Steps ahead at which it is known, increasing from 1; interpolated between.
    center : array, shape (L,)
        Mean of the observables.
    projection : array, shape (L, r)
        From the observables less their mean to the features that are used.
    weights : array, shape (m, n_outputs, r)
        Of the features; zero where the start says nothing about the error.
    """

    steps: IndexArray
    center: FloatArray
    projection: FloatArray
    weights: FloatArray

    def __post_init__(self) -> None:
        fits = self.weights.ndim == 3 and self.weights.shape[::2] == (len(self.steps), self.projection.shape[1])
        if not fits or self.center.shape != self.projection.shape[:1]:
            raise KoopsieveError("The local spread of bands does not fit together.")

    def features(self, dictionary: Dictionary, states: FloatArray) -> FloatArray:
        """Return what the spread depends on at each state (starts, n), shape (starts, r)."""
        found = np.empty((len(states), self.projection.shape[1]))
        for part in chunks(len(states), len(self.center)):
            with np.errstate(all="ignore"):
                found[part] = np.nan_to_num((dictionary(states[part]) - self.center) @ self.projection)
        return found

    def scale(self, features: FloatArray, horizon: int) -> FloatArray:
        """Return by what to multiply half-widths at steps 1, …, `horizon`, shape (starts, horizon, n_outputs)."""
        weights = at_steps(self.steps, self.weights, np.arange(1, horizon + 1))
        with np.errstate(all="ignore"):
            logs = np.tensordot(features, weights, axes=(1, 2))
        scale: FloatArray = np.exp(np.clip(logs, -MAX_LOG_SCALE, MAX_LOG_SCALE))
        return scale
