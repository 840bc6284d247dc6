"""The loss of the horizon refit and its gradient, from statistics alone, in white coordinates: (D40) to (D48).

White coordinates are the lifted state in uncorrelated directions of unit mean square, so that units do not matter.
Matrices act from the left, as everywhere in this stage: the lifted state is a row, φ⁺ = φA + uB, y = φC. With
M_i = AⁱC the outputs h steps ahead are y[k+h] = φM_h + Σ_j u[k+j]·B·M_{h−1−j}, j = 0, …, h−1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray, IndexArray, magnitude, or_one
from koopsieve.regression import HorizonStatistics, RegressionStatistics, TriangularFactor

MIN_RELATIVE_SPREAD = 1e-9  # directions of the lifted state with less than this of the largest spread are left out
MIN_RELATIVE_ERROR = 1e-12  # of a target's power: an error of the direct regression below this is rounding
OVERFLOWED = 1e300  # the loss of a matrix whose predictions are not finite; the line search steps back from it


@dataclass(frozen=True, eq=False)
class Whitening:
    """Coordinates in which the observables are uncorrelated with unit mean square, and inputs have unit mean square."""

    into: FloatArray  # (L, r): white coordinates are φ·into
    back: FloatArray  # (r, L): φ is white·back
    input_scale: FloatArray  # (l,): root mean square of each input
    state_input: FloatArray  # (r, l): mean products of the white coordinates with the scaled inputs
    input_input: FloatArray  # (l, l): mean products of the scaled inputs with each other

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
    return or_one(unit * np.linalg.norm(columns / unit, axis=0))


@dataclass(frozen=True, eq=False)
class HorizonTerm:
    """The weighted squared error of the outputs at one horizon, as a function of Θ_h: (D45)."""

    horizon: int
    R: FloatArray  # (n, r + l·h): triangular factor of white coordinates and scaled inputs
    S: FloatArray  # (n, q): the targets seen through it
    weight: FloatArray  # (q,): of each output's squared error

    @classmethod
    def of(cls, horizon: int, factor: TriangularFactor, frame: Whitening, share: float) -> HorizonTerm:
        """Bring the direct regression at one horizon to white coordinates; errors count relative to its own."""
        L = len(frame.into)
        design = np.hstack([factor.R[:, :L] @ frame.into, factor.R[:, L:] / np.tile(frame.input_scale, horizon)])
        Q, R = np.linalg.qr(design)
        S = Q.T @ factor.S
        least = factor.leftover + np.sum((factor.S - Q @ S) ** 2, axis=0) + _unexplained(R, S)
        power = np.sum(factor.S**2, axis=0) + factor.leftover
        scale = np.maximum(least, MIN_RELATIVE_ERROR * power)
        weight = np.divide(share, scale, out=np.zeros_like(scale), where=scale > 0)  # an output that is zero has none
        return cls(horizon, R, S, weight)

    def error(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return Σ weight·‖S − RΘ‖² and its slope with respect to Θ."""
        gap = self.R @ theta - self.S
        return float(np.sum(self.weight * gap**2)), 2 * self.R.T @ (gap * self.weight)


@dataclass(frozen=True, eq=False)
class HorizonLoss:
    """The loss and its gradient, as a function of the white Koopman matrix laid out flat: (D43)."""

    C: FloatArray  # (r, q): the outputs from the white lifted state
    terms: tuple[HorizonTerm, ...]  # one per horizon, increasing
    one_step: FloatArray  # (r + l, r): where the one-step fit is best
    frame: Whitening  # its mean products are the metric of the one-step fit
    tie: float  # weight of the mean over the observables of the one-step misfit added

    @classmethod
    def of(
        cls,
        multistep: HorizonStatistics,
        frame: Whitening,
        outputs: IndexArray,
        one_step: FloatArray,
        tie: float,
        emphasis: float,
    ) -> HorizonLoss:
        """Prepare the loss: everything that does not depend on the Koopman matrix."""
        share = np.asarray(multistep.horizons, dtype=float) ** emphasis
        share /= share.sum() * len(outputs)
        terms = (
            HorizonTerm.of(h, multistep.at(h), frame, part) for h, part in zip(multistep.horizons, share, strict=True)
        )
        return cls(frame.back[:, outputs], tuple(terms), one_step, frame, tie)

    def __call__(self, flat: FloatArray) -> tuple[float, FloatArray]:
        """Return the loss and its gradient."""
        K = flat.reshape(self.one_step.shape)
        A, B = K[: len(self.C)], K[len(self.C) :]
        M = output_maps(A, self.C, self.terms[-1].horizon)
        acted, slopes = B @ M, {}
        loss, gradient = self._tie(K)
        for term in self.terms:
            value, slopes[term.horizon] = term.error(stacked(M, acted, term.horizon))
            loss += value
        by_maps, by_B = through_stacks(M, B, slopes)
        gradient[len(A) :] += by_B
        gradient[: len(A)] += through_powers(A, M, by_maps)
        if not (np.isfinite(loss) and np.isfinite(gradient).all()):
            return OVERFLOWED, np.zeros_like(flat)
        return loss, gradient.ravel()

    def _tie(self, K: FloatArray) -> tuple[float, FloatArray]:
        """Return what being away from the one-step fit costs, and its gradient."""
        change = K - self.one_step
        slope = (self.tie / max(self.frame.rank, 1)) * self.frame.mean_products(change)
        return float(np.vdot(change, slope)), 2 * slope


def output_maps(A: FloatArray, C: FloatArray, highest: int) -> FloatArray:
    """Return M_0 = C and M_i = A·M_{i−1}, shape (highest + 1, r, q): (D44)."""
    M = np.empty((highest + 1, *C.shape))
    M[0] = C
    for i in range(highest):
        M[i + 1] = A @ M[i]
    return M


def stacked(M: FloatArray, acted: FloatArray, h: int) -> FloatArray:
    """Return Θ_h = [M_h; B·M_{h−1}; …; B·M_0], shape (r + l·h, q), given all B·M_i: (D45)."""
    return np.concatenate([M[h], acted[:h][::-1].reshape(-1, M.shape[2])])


def through_stacks(M: FloatArray, B: FloatArray, slopes: Mapping[int, FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Return the slopes with respect to every M_i and to B, given those with respect to Θ_h at each horizon h: (D46).

    The block of the input at k + j is B·M_{h−1−j}. All horizons share these products, so their slopes are added up
    before they pass Bᵀ·slope on to M_{h−1−j}, and slope·Mᵀ to B.
    """
    (r, q), inputs = M.shape[1:], len(B)
    by_maps, by_acted = np.zeros_like(M), np.zeros((len(M), inputs, q))
    for h, slope in slopes.items():
        by_maps[h] += slope[:r]
        by_acted[:h] += slope[r:].reshape(h, inputs, q)[::-1]
    by_B: FloatArray = np.tensordot(by_acted, M, axes=([0, 2], [0, 2]))
    return by_maps + B.T @ by_acted, by_B


def through_powers(A: FloatArray, M: FloatArray, by_maps: FloatArray) -> FloatArray:
    """Return the slope with respect to A, given those with respect to each M_i alone, G_i: (D47), (D48).

    Backwards through M_i = A·M_{i−1}: Λ_i = G_i + Aᵀ·Λ_{i+1}, and the slope is Σ_i Λ_i·M_{i−1}ᵀ.
    """
    adjoint = by_maps.copy()
    for i in range(len(M) - 2, 0, -1):
        adjoint[i] += A.T @ adjoint[i + 1]
    slope: FloatArray = np.tensordot(adjoint[1:], M[:-1], axes=([0, 2], [0, 2]))
    return slope


def _unexplained(R: FloatArray, S: FloatArray) -> FloatArray:
    """Return the squared norm of S that no coefficients reach; zero unless R is singular."""
    solution = np.linalg.lstsq(R, S, rcond=1e-12)[0]
    gap: FloatArray = np.sum((S - R @ solution) ** 2, axis=0)
    return gap
