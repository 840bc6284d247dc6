"""Eigenvalues and modes: how outputs move when left alone, and how well each eigenfunction keeps its own equation.

Step and frequency responses: how they answer inputs, around the mean of the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from koopsieve._types import ComplexArray, FloatArray
from koopsieve.data import Trajectories, embedded
from koopsieve.regression import compress
from koopsieve.uncertainty.certificates import eigenpair_residuals

if TYPE_CHECKING:
    from koopsieve.forms.lifted_state import LiftedStateModel
    from koopsieve.forms.model import Model

_SETTLED = 5.0  # time constants after which a step response has settled
_STEPS = (20, 400)  # fewest and most steps of a step response
_FREQUENCIES = 160
_LOWEST_FREQUENCY = 1e-3  # of half the sample rate


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues of a model, the largest in absolute value first.

    Parameters
    ----------
    values : complex array, shape (n,)
    residuals : array, shape (n,), optional
        How far each eigenfunction is from its own equation on the data: see `eigenpair_residuals`. Small where the
        eigenvalue belongs to the plant, near one or above where it belongs to the choice of observables. None where
        they were not asked for, and for a model that carries no observables, which has no eigenfunctions.
    dt : float
        Sample time.
    at_mean : bool
        Whether they are those of the step linearised at the mean state, and not of an A that is the same everywhere.
    """

    values: ComplexArray
    residuals: FloatArray | None
    dt: float
    at_mean: bool = False

    @property
    def of(self) -> str:
        """What they are eigenvalues of."""
        return "step linearised at the mean state" if self.at_mean else "A"

    @property
    def frequencies(self) -> FloatArray:
        """Oscillations per unit of time, not negative."""
        found: FloatArray = np.abs(np.angle(self.values)) / (2 * np.pi * self.dt)
        return found

    @property
    def time_constants(self) -> FloatArray:
        """Time in which a mode falls to 1/e; inf for one that does not decay."""
        modulus = np.abs(self.values)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(modulus < 1, -self.dt / np.log(modulus), np.inf)


def spectrum(model: Model, trajectories: Trajectories, residuals: bool = True) -> Spectrum:
    """Return the spectrum of the step at the mean state of the trajectories, which for a linear model is that of A.

    With `residuals` they are measured there too, which compresses the data.
    """
    data, at_mean = embedded(trajectories, model.signals.embedding), not model.step_is_linear
    state, acting = mean_point(data)
    A = model.jacobian(model.start(state[None])[0], acting).A
    if not residuals or not model.carries_observables or not np.isfinite(A).all():
        return Spectrum(eigenvalues(A), None, model.dt, at_mean)
    lifted = cast("LiftedStateModel", model)
    found = eigenpair_residuals(lifted, compress(data, model.step_dictionary), acting)
    return Spectrum(*found, model.dt, at_mean)


def mean_point(data: Trajectories) -> tuple[FloatArray, FloatArray]:
    """Return the mean state and the mean input."""
    state, acting = (np.concatenate(each).mean(axis=0) for each in (data.states, data.inputs))
    return state, acting


@dataclass(frozen=True, eq=False)
class Responses:
    """How the outputs answer the inputs around an operating point, by the step linearised there.

    Parameters
    ----------
    time : array, shape (steps + 1,)
        Seconds since an input was raised by one.
    step : array, shape (steps + 1, n_outputs, n_inputs)
        By how much each output has risen.
    frequency : array, shape (frequencies,)
        In oscillations per second, up to half the sample rate.
    gain : complex array, shape (frequencies, n_outputs, n_inputs)
        Its absolute value is the gain, its angle the phase.
    outputs, inputs : array
        The operating point: the mean of the data.
    stable : bool
        Whether all eigenvalues lie inside the unit circle.
    """

    time: FloatArray
    step: FloatArray
    frequency: FloatArray
    gain: ComplexArray
    outputs: FloatArray
    inputs: FloatArray
    stable: bool


def responses(model: Model, trajectories: Trajectories) -> Responses | None:
    """Return step and frequency responses at the mean of the data; None without inputs, or where they overflow."""
    data = embedded(trajectories, model.signals.embedding)
    if not model.input_names:
        return None
    state, acting = mean_point(data)
    around = model.jacobian(model.start(state[None])[0], acting)
    if not all(np.isfinite(part).all() for part in (around.A, around.B)):
        return None
    values = np.abs(eigenvalues(around.A))
    slowest = values[values < 1 - 1e-9].max(initial=0.0)
    count = int(np.clip(_SETTLED / -np.log(slowest) if slowest > 0 else 0.0, _STEPS[0], _STEPS[1]))
    step, x = [np.zeros((len(around.C), around.B.shape[1]))], np.zeros_like(around.B)
    for _ in range(count):
        x = around.A @ x + around.B
        step.append(around.C @ x)
    half = 0.5 / model.dt
    frequency: FloatArray = np.geomspace(half * _LOWEST_FREQUENCY, half, _FREQUENCIES)
    turns = np.exp(2j * np.pi * frequency * model.dt)
    size = np.eye(len(around.A))
    gain = np.array([around.C @ np.linalg.solve(z * size - around.A, around.B.astype(complex)) for z in turns])
    if not np.isfinite(gain).all() or not np.isfinite(step).all():
        return None
    point = state[: len(model.output_names)]
    stable = bool(values.max(initial=0.0) < 1)
    time: FloatArray = np.arange(count + 1, dtype=float) * model.dt
    return Responses(time, np.array(step), frequency, gain, point, acting, stable)


@dataclass(frozen=True, eq=False)
class Modes:
    """The Koopman modes: y[k] = Σ_i shapes[:, i]·eigenvalues[i]ᵏ·weight_i, with weights set by the start.

    Parameters
    ----------
    eigenvalues : complex array, shape (L,)
        Of A, the largest in absolute value first.
    shapes : complex array, shape (n_outputs, L)
        One unit of each mode in the outputs: C times the eigenvectors, which have unit length.
    dt : float
        Sample time.
    """

    eigenvalues: ComplexArray
    shapes: ComplexArray
    dt: float

    @property
    def frequencies(self) -> FloatArray:
        """Oscillations per unit of time, from −1/(2·dt) to 1/(2·dt)."""
        frequencies: FloatArray = np.angle(self.eigenvalues) / (2 * np.pi * self.dt)
        return frequencies

    @property
    def growth_rates(self) -> FloatArray:
        """Exponential growth per unit of time; negative for a mode that dies out, −inf for one that does at once."""
        with np.errstate(divide="ignore"):
            rates: FloatArray = np.log(np.abs(self.eigenvalues)) / self.dt
        return rates


def modes(A: FloatArray, C: FloatArray, dt: float) -> Modes:
    """Return the modes of a linear system; all nan if its matrix is not finite."""
    if not np.isfinite(A).all():
        return Modes(np.full(len(A), complex(np.nan, np.nan)), np.full(C.shape, complex(np.nan, np.nan)), dt)
    found: tuple[Any, Any] = np.linalg.eig(A)
    values, vectors = (one.astype(complex) for one in found)
    order = np.argsort(-np.abs(values), kind="stable")
    return Modes(values[order], C @ vectors[:, order], dt)


def eigenvalues(A: FloatArray) -> ComplexArray:
    """Return the eigenvalues, the largest in absolute value first; all nan if the matrix is not finite."""
    if not np.isfinite(A).all():
        return np.full(len(A), complex(np.nan, np.nan))
    values: ComplexArray = np.linalg.eigvals(A).astype(complex)
    return values[np.argsort(-np.abs(values), kind="stable")]
