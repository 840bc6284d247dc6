"""A Kalman filter on what a model carries: exact in the linear form, extended (linearised at each step) in the others.

State: what is carried, z, and a disturbance d that is added to the outputs' rows at every step and drifts slowly.
z[k+1] = f(z[k], u[k]) + E·d[k] + process noise, d[k+1] = d[k] + drift, y[k] = C·z[k] + measurement noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError, real_array
from koopsieve.export.mpc.noise import Noise
from koopsieve.export.protocols import Predictor


@dataclass(frozen=True, eq=False)
class Belief:
    """What a filter knows.

    Parameters
    ----------
    carried : array, shape (size,)
        Mean of what the model carries.
    disturbance : array, shape (n_outputs,)
        Mean of the disturbance.
    covariance : array, shape (size + n_outputs, size + n_outputs)
        Of both together.
    """

    carried: FloatArray
    disturbance: FloatArray
    covariance: FloatArray


@dataclass(frozen=True, eq=False)
class KalmanFilter:
    """Estimate what a model carries from noisy outputs; pure: every update takes a belief and returns the next.

    Parameters
    ----------
    model : Model
    noise : Noise
        For example `noise_of(model, statistics)`.
    drift : float
        Variance by which the disturbance may change per step, as a share of the process and measurement noise of its
        output; 0 means that there is no disturbance.

    Examples
    --------
    >>> from koopsieve import LeastSquares, LiftedModel, States, Trajectories, compress
    >>> from koopsieve.export import KalmanFilter, noise_of
    >>> rng = np.random.default_rng(0)
    >>> u, x = rng.normal(size=200), [0.0]
    >>> for v in u[:-1]:
    ...     x.append(0.9 * x[-1] + v)
    >>> data = Trajectories.from_arrays(np.array(x) + 0.1 * rng.normal(size=200), u)
    >>> phi = States().fit(data)
    >>> statistics = compress(data, phi, horizons=[1, 2, 3])
    >>> model = LiftedModel.from_estimate(LeastSquares().identify(statistics), phi)
    >>> kalman = KalmanFilter(model, noise_of(model, statistics))
    >>> belief = kalman.start(data.states[0][0])
    >>> for y, v in zip(data.states[0][1:], u[:-1]):
    ...     belief = kalman.update(belief, v, y)
    >>> bool(abs(belief.carried[0] - x[-1]) < 0.2)
    True
    """

    model: Predictor
    noise: Noise
    drift: float = 0.01

    def __post_init__(self) -> None:
        if not 0 <= self.drift < np.inf:
            raise KoopsieveError(f"drift, the variance of the disturbance, must be 0 or more. Got {self.drift!r}.")
        outputs = len(self.model.signals.outputs)
        if self.noise.measurement.shape != (outputs,) or self.noise.process.ndim != 1:
            raise KoopsieveError(
                f"The noise does not fit the model. Expected {outputs} measurement variances, got "
                f"{self.noise.measurement.shape}. Make it with noise_of(model, statistics)."
            )

    def start(self, state: ArrayLike) -> Belief:
        """Return the belief from one measured state (n,), delays included."""
        x = np.atleast_1d(real_array("state", state))[None]
        carried, outputs = self.model.start(x)[0], len(self.model.signals.outputs)
        spread = self._lifted_noise(x)
        covariance = np.zeros((len(carried) + outputs,) * 2)
        covariance[: len(carried), : len(carried)] = spread + np.diag(self.noise.process)
        covariance[len(carried) :, len(carried) :] = np.diag(100 * self._drifts)
        return Belief(carried, np.zeros(outputs), covariance)

    def update(self, belief: Belief, acted: ArrayLike, measured: ArrayLike) -> Belief:
        """Return the belief one step later.

        Parameters
        ----------
        belief : Belief
        acted : array, shape (l,)
            The input that acted in the step.
        measured : array, shape (n_outputs,)
            The outputs measured after it.
        """
        u = np.atleast_1d(real_array("acted", acted))
        y = np.atleast_1d(real_array("measured", measured))
        return self._correct(self._predict(belief, u), y)

    def _predict(self, belief: Belief, u: FloatArray) -> Belief:
        """Carry mean and covariance one step on: P ← F·P·Fᵀ + Q with F = [[A, E], [0, 1]]."""
        size, z = len(belief.carried), belief.carried[None]
        step = self.model.jacobians(z, u[None])
        F = np.eye(len(belief.covariance))
        F[:size, :size], F[:size, size:] = step.A[0], self.entering
        Q = np.diag(np.concatenate([self.noise.process, self._drifts]))
        mean = self.model.advance(z, u[None])[0] + self.entering @ belief.disturbance
        return Belief(mean, belief.disturbance, F @ belief.covariance @ F.T + Q)

    def _correct(self, belief: Belief, y: FloatArray) -> Belief:
        """Weigh the measured outputs in: K = P·Hᵀ·(H·P·Hᵀ + R)⁻¹, H = [C, 0]."""
        size, P = len(belief.carried), belief.covariance
        H = np.zeros((len(y), len(P)))
        H[:, :size] = self._reading
        S = H @ P @ H.T + np.diag(self.noise.measurement)
        gain = np.linalg.solve(S, H @ P).T
        change = gain @ (y - self.model.read(belief.carried[None])[0])
        rest = np.eye(len(P)) - gain @ H
        covariance = rest @ P @ rest.T + (gain * self.noise.measurement) @ gain.T  # stays symmetric and positive
        return Belief(belief.carried + change[:size], belief.disturbance + change[size:], covariance)

    @cached_property
    def entering(self) -> FloatArray:
        """The matrix E, through which a disturbance of the outputs enters what is carried: C·E = 1."""
        return np.asarray(np.linalg.pinv(self._reading), dtype=float)

    @cached_property
    def _reading(self) -> FloatArray:
        """The matrix C, which reads outputs from what is carried."""
        return self.model.read(np.eye(len(self.noise.process))).T

    @cached_property
    def _drifts(self) -> FloatArray:
        drifts: FloatArray = self.drift * (np.abs(self._reading) @ self.noise.process + self.noise.measurement)
        return drifts

    def _lifted_noise(self, x: FloatArray) -> FloatArray:
        """Return the covariance of what is carried that measurement noise in a state causes."""
        signals = self.model.signals
        n, delays = len(signals.outputs), signals.embedding.state_delays
        variance = np.zeros(x.shape[1])
        variance[: n * (delays + 1)] = np.tile(self.noise.measurement, delays + 1)
        if self.model.form == "reprojected":
            return np.diag(variance)
        point = np.hstack([x, np.zeros((1, len(signals.inputs)))])
        slope = self.model.dictionary.gradient(point)[0, : self.model.dictionary.size, : x.shape[1]]
        spread: FloatArray = (slope * variance) @ slope.T
        return spread
