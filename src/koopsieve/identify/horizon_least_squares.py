"""A refit that looks ahead: the Koopman matrix whose own predictions are good at the horizons asked for.

Least squares one step ahead spends its freedom on all observables alike. Here A and B are moved from there so that
the outputs predicted by the model, y[k+h] = C·Aʰ·φ + Σⱼ C·Aʰ⁻¹⁻ʲ·B·u[k+j], fit best at all horizons.
`HorizonStatistics` hold all that this needs: with Θ_h(A, B) = [Aʰ C; B Aʰ⁻¹ C; …; B C] (rows act from the left, as
everywhere in this stage) the squared error at horizon h is ‖S_h − R_h Θ_h‖² plus a constant. No data are touched.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.execution import one_blas_thread
from koopsieve.identify.estimate import Estimate, Status, residual_precision
from koopsieve.identify.least_squares import LeastSquares
from koopsieve.regression import HorizonStatistics, RegressionStatistics, required_ahead

_DISTINCT = 1e-9  # directions of the lifted state with less than this of the largest spread are left out


@dataclass(frozen=True)
class HorizonLeastSquares:
    """Least squares over several horizons of the model's own predictions, tied to one-step least squares.

    Minimises, by a quasi-Newton method from the one-step solution,
    mean over targets of (squared error − least) / least + tie·mean over observables of the one-step misfit added,
    where `least` is the squared error of the direct regression at that horizon, which no model can go below.
    Observables are whitened inside, so units do not matter.

    Parameters
    ----------
    tie : float
        Weight of the one-step fit of all observables. Raising it stays closer to `LeastSquares`.
    emphasis : float
        Targets at horizon h weigh in proportion to h to this power.
    iterations : int
        Quasi-Newton iterations at most. Stopping early only means to stay closer to the one-step solution.
    """

    tie: float = 10.0
    emphasis: float = 0.5
    iterations: int = 100

    def __post_init__(self) -> None:
        if not (self.tie >= 0 and np.isfinite(self.tie) and np.isfinite(self.emphasis) and self.iterations >= 0):
            raise KoopsieveError(
                "tie and iterations must not be negative, and all must be finite. Got "
                f"tie={self.tie}, emphasis={self.emphasis}, iterations={self.iterations}."
            )

    def identify(self, statistics: RegressionStatistics) -> Estimate:
        """Infer the Koopman matrix; every regressor counts as included.

        Raises
        ------
        KoopsieveError
            If the statistics hold no horizons, or the outputs are not among the observables.
        """
        ahead = required_ahead(statistics)
        outputs = _output_columns(ahead)
        start = LeastSquares().identify(statistics)
        frame = whitening(statistics)
        tied = frame.inward(start.coef)
        loss = HorizonLoss.of(ahead, frame, outputs, tied, self.tie, self.emphasis)
        first = _bounded(tied, frame.rank)
        with np.errstate(all="ignore"), one_blas_thread():
            end = minimize(
                loss, first.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": self.iterations, "maxcor": 10}
            )
        coef = frame.outward(end.x.reshape(tied.shape))
        return Estimate(
            coef=coef,
            inclusion=np.ones_like(coef),
            noise_precision=residual_precision(statistics, coef),
            elbo=np.full(coef.shape[1], np.nan),
            status=(Status.SETTLED,) * coef.shape[1],
            coef_variance=np.zeros_like(coef),
            sweeps=np.full(coef.shape[1], end.nit, dtype=np.intp),
            agreement=np.ones(coef.shape[1], dtype=np.intp),
            regressors=statistics.regressors,
            targets=statistics.observables,
        )


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
    cross : array, shape (r, l)
        Mean products of the white coordinates with the scaled inputs.
    spread : array, shape (l, l)
        Mean products of the scaled inputs with each other.
    """

    into: FloatArray
    back: FloatArray
    input_scale: FloatArray
    cross: FloatArray
    spread: FloatArray

    @property
    def rank(self) -> int:
        """Number of directions that are kept."""
        return int(self.into.shape[1])

    def inward(self, coef: FloatArray) -> FloatArray:
        """Return a Koopman matrix (L + l, L) in white coordinates, (r + l, r)."""
        L = len(self.into)
        return np.vstack([self.back @ coef[:L], coef[L:] * self.input_scale[:, None]]) @ self.into

    def outward(self, white: FloatArray) -> FloatArray:
        """Return a Koopman matrix in white coordinates back in the data's own."""
        r = self.rank
        return np.vstack([self.into @ white[:r], white[r:] / self.input_scale[:, None]]) @ self.back

    def weighed(self, change: FloatArray) -> FloatArray:
        """Return M·change, M the mean products of the white design: how the one-step fit weighs a change (r + l, ·).

        M is the identity but for the inputs, so this costs next to nothing.
        """
        top, bottom = change[: self.rank], change[self.rank :]
        return np.vstack([top + self.cross @ bottom, self.cross.T @ top + self.spread @ bottom])


def whitening(statistics: RegressionStatistics) -> Whitening:
    """Return the white coordinates of the design behind the statistics."""
    L, rows = len(statistics.observables), max(statistics.rows, 1.0)
    R, inputs = statistics.R[:, :L] / np.sqrt(rows), statistics.R[:, L:] / np.sqrt(rows)
    scale, input_scale = (_or_one(np.linalg.norm(part, axis=0)) for part in (R, inputs))
    white, spread, turn = np.linalg.svd(R / scale, full_matrices=False)
    kept = spread > _DISTINCT * spread[0]
    inputs = inputs / input_scale
    return Whitening(
        into=turn[kept].T / spread[kept] / scale[:, None],
        back=turn[kept] * spread[kept, None] * scale,
        input_scale=input_scale,
        cross=white[:, kept].T @ inputs,
        spread=inputs.T @ inputs,
    )


def _or_one(scale: FloatArray) -> FloatArray:
    return np.where(scale > 0, scale, 1.0)


@dataclass(frozen=True, eq=False)
class HorizonLoss:
    """The loss and its gradient, as a function of the white Koopman matrix laid out flat.

    Parameters
    ----------
    C : array, shape (r, q)
        The outputs from the white lifted state.
    horizons : tuple of int
    factors : tuple of arrays
        R_h in white coordinates, one per horizon.
    targets : tuple of arrays
        S_h, one per horizon.
    weights : tuple of arrays, each (q,)
        Of each output's squared error, one per horizon.
    tied : array, shape (r + l, r)
        Where the one-step fit is best.
    frame : Whitening
        Its `weighed` is the metric of the one-step fit.
    tie : float
        Weight of the mean over the observables of the one-step misfit added.
    """

    C: FloatArray
    horizons: tuple[int, ...]
    factors: tuple[FloatArray, ...]
    targets: tuple[FloatArray, ...]
    weights: tuple[FloatArray, ...]
    tied: FloatArray
    frame: Whitening
    tie: float

    @classmethod
    def of(
        cls,
        ahead: HorizonStatistics,
        frame: Whitening,
        outputs: IndexArray,
        tied: FloatArray,
        tie: float,
        emphasis: float,
    ) -> HorizonLoss:
        """Prepare the loss: everything that does not depend on the Koopman matrix."""
        L = len(ahead.observables)
        importance = np.asarray(ahead.horizons, dtype=float) ** emphasis
        importance /= importance.sum() * len(outputs)
        factors, targets, weights = [], [], []
        for h, share in zip(ahead.horizons, importance, strict=True):
            factor = ahead.at(h)
            design = np.hstack([factor.R[:, :L] @ frame.into, factor.R[:, L:] / np.tile(frame.input_scale, h)])
            Q, R = np.linalg.qr(design)
            S = Q.T @ factor.S
            least = factor.leftover + np.sum((factor.S - Q @ S) ** 2, axis=0) + _unexplained(R, S)
            scale = np.sum(factor.S**2, axis=0) + factor.leftover
            factors.append(R)
            targets.append(S)
            weights.append(share / np.maximum(least, 1e-12 * np.maximum(scale, 1e-300)))
        C = frame.back[:, outputs]
        return cls(C, ahead.horizons, tuple(factors), tuple(targets), tuple(weights), tied, frame, tie)

    def __call__(self, flat: FloatArray) -> tuple[float, FloatArray]:
        """Return the loss and its gradient."""
        K = flat.reshape(self.tied.shape)
        r = len(self.C)
        A, B = K[:r], K[r:]
        powers = _powers(A, self.C, self.horizons[-1])
        loss, gradient = self._tie(K)
        slopes = np.zeros_like(powers)
        for h, R, S, weight in zip(self.horizons, self.factors, self.targets, self.weights, strict=True):
            between = powers[:h][::-1]  # Aʰ⁻¹C, …, C
            gap = R @ np.concatenate([powers[h], (B @ between).reshape(-1, self.C.shape[1])]) - S
            loss += float(np.sum(weight * gap**2))
            slope = 2 * R.T @ (gap * weight)
            slopes[h] += slope[:r]
            pulses = slope[r:].reshape(h, len(B), self.C.shape[1])
            slopes[:h] += (B.T @ pulses)[::-1]
            gradient[r:] += np.tensordot(pulses, between, axes=([0, 2], [0, 2]))
        gradient[:r] += _through_powers(A, powers, slopes)
        if not (np.isfinite(loss) and np.isfinite(gradient).all()):
            return 1e300, np.zeros_like(flat)
        return loss, gradient.ravel()

    def _tie(self, K: FloatArray) -> tuple[float, FloatArray]:
        """Return what being away from the one-step fit costs, and its gradient."""
        change = K - self.tied
        pull = (self.tie / max(self.frame.rank, 1)) * self.frame.weighed(change)
        return float(np.vdot(change, pull)), 2 * pull


def _powers(A: FloatArray, C: FloatArray, highest: int) -> FloatArray:
    """Return C, AC, …, A^highest·C."""
    powers = np.empty((highest + 1, *C.shape))
    powers[0] = C
    for h in range(highest):
        powers[h + 1] = A @ powers[h]
    return powers


def _through_powers(A: FloatArray, powers: FloatArray, slopes: FloatArray) -> FloatArray:
    """Return the gradient with respect to A, given that with respect to every power's product with C."""
    carried = np.zeros_like(slopes)
    carry = np.zeros_like(slopes[0])
    for h in range(len(powers) - 1, 0, -1):
        carry = slopes[h] + A.T @ carry
        carried[h] = carry
    gradient: FloatArray = np.tensordot(carried[1:], powers[:-1], axes=([0, 2], [0, 2]))
    return gradient


def _unexplained(R: FloatArray, S: FloatArray) -> FloatArray:
    """Return the squared norm of S that no coefficients reach; zero unless R is singular."""
    solution = np.linalg.lstsq(R, S, rcond=1e-12)[0]
    gap: FloatArray = np.sum((S - R @ solution) ** 2, axis=0)
    return gap


def _bounded(white: FloatArray, rank: int) -> FloatArray:
    """Return the start with eigenvalues outside the unit circle moved onto it: long horizons must not overflow."""
    values, vectors = np.linalg.eig(white[:rank])
    size = np.abs(values)
    if not size.size or size.max() <= 1:
        return white
    moved = np.real((vectors * (values / np.maximum(size, 1))) @ np.linalg.pinv(vectors))
    return np.vstack([moved, white[rank:]])


def _output_columns(ahead: HorizonStatistics) -> IndexArray:
    if not set(ahead.outputs) <= set(ahead.observables):
        missing = [name for name in ahead.outputs if name not in ahead.observables]
        raise KoopsieveError(
            f"The outputs {missing} are not among the observables, so the model could not predict them. "
            "Add a States() block, and keep the outputs when reducing."
        )
    return np.array([ahead.observables.index(name) for name in ahead.outputs], dtype=np.intp)
