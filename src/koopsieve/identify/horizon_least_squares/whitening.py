"""White coordinates: the lifted state in uncorrelated directions of unit mean square, so that units do not matter.

Comes in: one-step statistics. Goes out: the change of coordinates of (D40) in docs/derivation.md, and back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray, magnitude
from koopsieve.regression import RegressionStatistics

MIN_RELATIVE_SPREAD = 1e-9  # directions of the lifted state with less than this of the largest spread are left out


@dataclass(frozen=True, eq=False)
class Whitening:
    """Coordinates in which the observables are uncorrelated with unit mean square, and inputs have unit mean square.

    Parameters
    ----------
    into : array, shape (L, r)
        White coordinates are φ·into.
    back : array, shape (r, L)
        φ is white·back.
    input_scale : array, shape (l,)
        Root mean square of each input.
    state_input : array, shape (r, l)
        Mean products of the white coordinates with the scaled inputs.
    input_input : array, shape (l, l)
        Mean products of the scaled inputs with each other.
    """

    into: FloatArray
    back: FloatArray
    input_scale: FloatArray
    state_input: FloatArray
    input_input: FloatArray

    @property
    def rank(self) -> int:
        """Number of directions that are kept."""
        return int(self.into.shape[1])

    def inward(self, coef: FloatArray) -> FloatArray:
        """Return a Koopman matrix (L + l, L) in white coordinates, (r + l, r): (D41)."""
        L = len(self.into)
        return np.vstack([self.back @ coef[:L], coef[L:] * self.input_scale[:, None]]) @ self.into

    def outward(self, white: FloatArray) -> FloatArray:
        """Return a Koopman matrix in white coordinates back in the data's own: (D41)."""
        r = self.rank
        return np.vstack([self.into @ white[:r], white[r:] / self.input_scale[:, None]]) @ self.back

    def mean_products(self, change: FloatArray) -> FloatArray:
        """Return M·change for the mean products M of the white design: (D42).

        M is the identity but for the inputs, so this costs little.
        """
        state, inputs = change[: self.rank], change[self.rank :]
        top = state + self.state_input @ inputs
        return np.vstack([top, self.state_input.T @ state + self.input_input @ inputs])


def whitening(statistics: RegressionStatistics) -> Whitening:
    """Return the white coordinates of the design behind the statistics: (D40)."""
    L, root = len(statistics.observables), np.sqrt(max(statistics.rows, 1.0))
    states, inputs = statistics.R[:, :L] / root, statistics.R[:, L:] / root
    scale, input_scale = (_norm_or_one(part) for part in (states, inputs))
    white, spread, turn = np.linalg.svd(states / scale, full_matrices=False)
    kept = spread > MIN_RELATIVE_SPREAD * spread[0]
    inputs = inputs / input_scale
    return Whitening(
        into=turn[kept].T / spread[kept] / scale[:, None],
        back=turn[kept] * spread[kept, None] * scale,
        input_scale=input_scale,
        state_input=white[:, kept].T @ inputs,
        input_input=inputs.T @ inputs,
    )


def _norm_or_one(columns: FloatArray) -> FloatArray:
    unit = magnitude(columns)  # squares of 1e200 overflow
    norm = unit * np.linalg.norm(columns / unit, axis=0)
    return np.where(norm > 0, norm, 1.0)
