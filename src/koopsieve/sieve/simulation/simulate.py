"""Simulation of a reprojected model over many windows at once, and how it depends on the coefficients.

One step (D49): y[k+1] = Σ_i θ_i p_i(x[k], u[k]), held inside a box, then the delay line is shifted and lifted anew.
Sensitivity (D50): ∂y[k+1]/∂θ = p(z[k]) + Σ_d ∂f/∂y[k-d]·∂y[k-d]/∂θ, zero for an output that the box holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.data import Embedding
from koopsieve.sieve.simulation.box import Box
from koopsieve.sieve.simulation.protocol import Regressors


@dataclass(frozen=True, eq=False)
class Reprojected:
    """The structure of a reprojected model: everything but its coefficients.

    Parameters
    ----------
    regressors : Regressors
        p(z), z = [x | u].
    outputs : int
        How many there are at one instant, n.
    embedding : Embedding
        The delays in x.
    box : Box
        Where predictions are held.
    """

    regressors: Regressors
    outputs: int
    embedding: Embedding
    box: Box

    def select(self, indices: IndexArray) -> Reprojected:
        """Return the model with only some of the regressors."""
        return replace(self, regressors=self.regressors.select(indices))

    def simulate(self, coef: FloatArray, starts: FloatArray, inputs: FloatArray) -> FloatArray:
        """Return the outputs after each step, shape (W, T, n), (D49).

        Parameters
        ----------
        coef : array, shape (p, n)
        starts : array, shape (W, n_x)
            The delay line at the start.
        inputs : array, shape (W, T, l)
            The input that acts in each step.
        """
        x, found = starts, np.empty((*inputs.shape[:2], self.outputs))
        for t in range(inputs.shape[1]):
            u = inputs[:, t]
            y = self.box.hold(self.regressors.evaluate(np.hstack([x, u])) @ coef)
            found[:, t] = y
            x = self.embedding.shift(x, y, u)
        return found

    def sensitivities(
        self, coef: FloatArray, free: BoolArray, starts: FloatArray, inputs: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the outputs (W, T, n) and their derivatives (W, T, n, P) by the P free coefficients, (D50).

        Parameters
        ----------
        coef, starts, inputs
            As for `simulate`.
        free : array of bool, shape (p, n)
            The coefficients that may move; derivatives are in the order of `coef[free]`.
        """
        n, reach = self.outputs, self.embedding.state_delays + 1
        W, T = inputs.shape[:2]
        found, slopes = np.empty((W, T, n)), np.zeros((W, reach + T, n, int(free.sum())))
        own = own_places(free)
        acting = np.flatnonzero(coef.any(axis=1))  # the others have no part in ∂f/∂x
        moving, weights = self.regressors.select(acting), coef[acting].T
        x = starts
        for t in range(T):
            z = np.hstack([x, inputs[:, t]])
            p = self.regressors.evaluate(z)
            raw = p @ coef
            y = self.box.hold(raw)
            inward = moving.slope_of_sums(z, weights)[:, :, : n * reach]  # ∂f_c/∂x_j, the delayed outputs only
            past = inward.reshape(W, n, reach, n)[:, :, ::-1].reshape(W, n, reach * n)  # the oldest first
            slope = past @ slopes[:, t : t + reach].reshape(W, reach * n, -1)
            for c, (rows, places) in enumerate(own):
                slope[:, c, places] += p[:, rows]
            slope[raw != y] = 0.0
            found[:, t], slopes[:, reach + t] = y, slope
            x = self.embedding.shift(x, y, inputs[:, t])
        return found, slopes[:, reach:]


def own_places(free: BoolArray) -> list[tuple[IndexArray, IndexArray]]:
    """Return, per output, the regressors of its free coefficients and where these are among all free ones."""
    number = np.cumsum(free).reshape(free.shape) - 1
    return [(np.flatnonzero(column), number[column, c]) for c, column in enumerate(free.T)]
