"""A Kalman filter on what a model carries: exact in the linear form, extended (linearised at each step) in the others.

State: what is carried, z, and a disturbance d of the outputs that drifts slowly. Since z = φ(x), a disturbance that
moves the outputs by d moves z by E·d, where E is the derivative of φ with respect to the outputs:
z[k+1] = f(z[k], u[k]) + E·d[k] + process noise, d[k+1] = d[k] + drift, y[k] = C·z[k] + measurement noise (D75).

Observables are functions of the state, and a filter that treats them as free leaves the set of states that there are.
So the estimated state is lifted anew after every correction, and the covariance with it (D76).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import NOT_NEGATIVE, FloatArray, KoopsieveError, real_array, real_number, require_kind
from koopsieve.control.limits import per_signal
from koopsieve.control.state_estimate import Innovations, check_gate, plausible
from koopsieve.forms import Model
from koopsieve.forms.prediction import measured_state
from koopsieve.uncertainty.noise import Noise

START_DRIFTS = 10  # steps of drift by which the disturbance may differ from zero at the start
MAX_SENSOR_SHARE = 9.0  # times the noise of the plant, up to which that of a sensor makes the disturbance drift


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
    entering : array, shape (size, n_outputs)
        The matrix E, through which a disturbance of the outputs enters what is carried: C·E = 1.
    innovations : Innovations
        The newest measurement less its prediction.
    """

    carried: FloatArray
    disturbance: FloatArray
    covariance: FloatArray
    entering: FloatArray
    innovations: Innovations = field(repr=False)


@dataclass(frozen=True, eq=False)
class KalmanFilter:
    """Estimate what a model carries from noisy outputs; pure: every update takes a belief and returns the next.

    Parameters
    ----------
    model : Model
    noise : Noise, optional
        By default the one that the model knows, as those from `sift` do; or `noise_of(model, statistics)`.
    drift : float
        Variance by which the disturbance may change per step, as a share of the process and measurement noise of its
        output; 0 means that there is no disturbance. Measurement noise counts up to nine times the process noise: where
        a model is nearly exact, what differs from its predictions is noise of the sensor and no disturbance.
    gate : float
        Standard deviations beyond which an innovation is a spike and not used, one sample at most; infinity takes
        everything.

    Examples
    --------
    >>> from koopsieve import LeastSquares, LinearModel, States, Trajectories, compress
    >>> from koopsieve.control import KalmanFilter, noise_of
    >>> rng = np.random.default_rng(0)
    >>> u, x = rng.normal(size=200), [0.0]
    >>> for v in u[:-1]:
    ...     x.append(0.9 * x[-1] + v)
    >>> data = Trajectories.from_arrays(np.array(x) + 0.1 * rng.normal(size=200), u)
    >>> phi = States().fit(data)
    >>> statistics = compress(data, phi, horizons=[1, 2, 3])
    >>> model = LinearModel.from_estimate(LeastSquares().identify(statistics), phi)
    >>> kalman = KalmanFilter(model, noise_of(model, statistics))
    >>> belief = kalman.start(data.states[0][0])
    >>> for y, v in zip(data.states[0][1:], u[:-1]):
    ...     belief = kalman.update(belief, v, y)
    >>> bool(abs(belief.carried[0] - x[-1]) < 0.2)
    True
    """

    model: Model
    noise: Noise = None  # type: ignore[assignment] # replaced by the model's own
    drift: float = 0.03
    gate: float = 8.0

    def __post_init__(self) -> None:
        if self.noise is None and self.model.noise is None:
            raise KoopsieveError(
                "The model does not know its noise. Those that sift returns do; give others theirs with noise= and "
                "noise_of(model, statistics), or with calibrate(model, held_out_data, horizon=…)."
            )
        if self.noise is None:
            object.__setattr__(self, "noise", self.model.noise)
        check_gate(self.gate)
        real_number("drift, the variance of the disturbance,", self.drift, NOT_NEGATIVE)
        require_kind("noise= as Noise", self.noise, Noise, "Make it with noise_of(model, statistics).")
        outputs, size = len(self.model.signals.outputs), len(self.model.carried_names)
        if self.noise.measurement.shape != (outputs,) or self.noise.process.shape != (size,):
            raise KoopsieveError(
                f"The noise does not fit the model. Expected {outputs} measurement variances and {size} process "
                f"variances, got {self.noise.measurement.shape} and {self.noise.process.shape}. Make it with "
                "noise_of(model, statistics)."
            )

    def start(self, rows: ArrayLike, inputs: ArrayLike | None = None) -> Belief:
        """Return the belief from the newest measurements.

        Parameters
        ----------
        rows : array, shape (rows, n_outputs), or (n,)
            At least `model.history` rows of measured outputs, newest last; or one state, delays included.
        inputs : array, shape (rows − 1, l), optional
            The inputs between them, one more where u[k+1] acts on y[k+1]; needed where the state holds past inputs.
        """
        signals = self.model.signals
        given = np.atleast_1d(real_array("rows", rows))
        whole = given.ndim == 1 and inputs is None
        x = (per_signal("state", given, signals.state_names) if whole else measured_state(signals, given, inputs))[None]
        slopes = self.model.start_slopes(x)[0]
        size, outputs = len(slopes), len(signals.outputs)
        covariance = np.zeros((size + outputs, size + outputs))
        covariance[:size, :size] = (slopes * self.state_variance) @ slopes.T + np.diag(self.noise.process)
        covariance[size:, size:] = np.diag(START_DRIFTS * self.drifts)
        known = Innovations.none(outputs)
        return Belief(self.model.start(x)[0], np.zeros(outputs), covariance, self.entering(slopes), known)

    def update(self, belief: Belief, acted: ArrayLike, measured: ArrayLike) -> Belief:
        """Return the belief one step later.

        Parameters
        ----------
        belief : Belief
        acted : array, shape (l,)
            The input that acted in the step.
        measured : array, shape (n_outputs,)
            The outputs measured after it; NaN where one is missing. Without any the belief is only predicted.
        """
        u = per_signal("acted", acted, self.model.signals.inputs)
        y = per_signal("measured", measured, self.model.signals.outputs, missing=True)
        return self._lifted(self._correct(self._predict(belief, u), y))

    def _predict(self, belief: Belief, u: FloatArray) -> Belief:
        """Carry mean and covariance one step on: P ← F·P·Fᵀ + Q with F = [[A, E], [0, 1]]."""
        size, z = len(belief.carried), belief.carried[None]
        F = np.eye(len(belief.covariance))
        step = self.model.jacobians(z, u[None])
        F[:size, :size] = step.A[0]
        F[:size, size:] = belief.entering
        mean = step.A[0] @ belief.carried + step.B[0] @ u + step.offset[0] + belief.entering @ belief.disturbance
        covariance = F @ belief.covariance @ F.T
        covariance.flat[:: len(F) + 1] += np.concatenate([self.noise.process, self.drifts])
        return replace(belief, carried=mean, covariance=covariance)

    def _correct(self, belief: Belief, y: FloatArray) -> Belief:
        """Weigh the outputs that are taken in: K = P·Hᵀ·(H·P·Hᵀ + R)⁻¹, H = [C, 0]."""
        size, P, R = len(belief.carried), belief.covariance, self.noise.measurement
        seen = self._reading @ P[:size]  # H·P
        S = seen[:, :size] @ self._reading.T + np.diag(R)
        expected = self.model.read(belief.carried[None])[0]
        error = plausible(self.model, y, expected) - expected
        found = belief.innovations.following(error, np.diag(S), self.gate)
        C, taken = self._reading, np.flatnonzero(found.taken)
        if len(taken) < len(y):
            C, seen, S, error, R = C[taken], seen[taken], S[np.ix_(taken, taken)], error[taken], R[taken]
        gain = np.linalg.solve(S, seen).T
        change = gain @ error
        rest = np.eye(len(P))
        rest[:, :size] -= gain @ C
        return replace(
            belief,
            carried=belief.carried + change[:size],
            disturbance=belief.disturbance + change[size:],
            covariance=rest @ P @ rest.T + (gain * R) @ gain.T,  # symmetric and positive
            innovations=found,
        )

    def _lifted(self, belief: Belief) -> Belief:
        """Replace what is carried by φ of the state in it: P ← T·P·Tᵀ, T the derivative of that map."""
        if not self.relifts:
            return belief
        places, size = self.model.dictionary.state_positions, len(belief.carried)
        state = belief.carried[places][None]
        slopes = self.model.start_slopes(state)[0]
        T = np.eye(len(belief.covariance))
        T[:size, :size] = 0.0
        T[:size, places] = slopes
        return replace(
            belief,
            carried=self.model.start(state)[0],
            covariance=T @ belief.covariance @ T.T,
            entering=self.entering(slopes),
        )

    @cached_property
    def relifts(self) -> bool:
        """Tell whether there is anything to lift, and the state to lift it from."""
        return self.model.carries_observables and bool((self.model.dictionary.state_positions >= 0).all())

    @cached_property
    def _reading(self) -> FloatArray:
        """The matrix C, which reads outputs from what is carried."""
        return self.model.read(np.eye(len(self.noise.process))).T

    @property
    def state_variance(self) -> FloatArray:
        """Variances of a measured state: of the sensors; past inputs are known exactly."""
        signals = self.model.signals
        past = np.tile(self.noise.measurement, signals.embedding.state_delays + 1)
        return np.concatenate([past, np.zeros(len(signals.state_names) - len(past))])

    @cached_property
    def drifts(self) -> FloatArray:
        """Variances by which the disturbance of each output may change per step."""
        plant = np.abs(self._reading) @ self.noise.process
        drifts: FloatArray = self.drift * (plant + np.minimum(self.noise.measurement, MAX_SENSOR_SHARE * plant))
        return drifts

    def entering(self, slopes: FloatArray) -> FloatArray:
        """Return E: the derivatives with respect to the outputs, or the outputs' rows alone for the plain filter."""
        outputs = len(self._reading)
        return slopes[:, :outputs] if self.relifts else np.asarray(np.linalg.pinv(self._reading), dtype=float)
