"""Fixed-step Runge–Kutta on plain floats, and what it simulates: Lorenz, Duffing, Van der Pol, a test bench; a circuit.

The same bits on every call, and fast for the few states of these systems. Lorenz is that of the paper, Section 5.1.

The circuit, of Wiener–Hammerstein type (Section 5.3), stands in for the measured records: input → third-order Chebyshev
low-pass → + process noise → diode-like saturation → third-order inverse Chebyshev filter with a transmission zero in
the excited band → output + measurement noise. It follows the published description of the electronics; it is not fitted
to the records, and no number from it may be compared with that of the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import POSITIVE, FloatArray, KoopsieveError, real_number

State = tuple[float, ...]
Derivative = Callable[[State, State], State]  # (state, input) -> time derivative of the state


def integrate(
    derivative: Derivative, initial: Iterable[float], inputs: FloatArray, dt: float, max_step: float
) -> FloatArray:
    """Return the states at 0, dt, 2·dt, …, one row more than `inputs`, each input row held for one sample.

    `derivative` takes state and input to the state's time derivative, all tuples of floats. No internal step of the
    classical fourth-order Runge–Kutta method is longer than `max_step`.
    """
    substeps = max(1, math.ceil(dt / max_step - 1e-9))
    h = dt / substeps
    x: State = tuple(float(value) for value in initial)
    states = np.empty((len(inputs) + 1, len(x)))
    states[0] = x
    for k, row in enumerate(inputs.tolist()):
        u = tuple(row)
        for _ in range(substeps):
            x = _step(derivative, x, u, h)
        states[k + 1] = x
    return states


def _step(derivative: Derivative, x: State, u: State, h: float) -> State:
    k1 = derivative(x, u)
    k2 = derivative(tuple(a + 0.5 * h * b for a, b in zip(x, k1, strict=True)), u)
    k3 = derivative(tuple(a + 0.5 * h * b for a, b in zip(x, k2, strict=True)), u)
    k4 = derivative(tuple(a + h * b for a, b in zip(x, k3, strict=True)), u)
    slopes = zip(k1, k2, k3, k4, strict=True)
    return tuple(a + h / 6 * (b1 + 2 * b2 + 2 * b3 + b4) for a, (b1, b2, b3, b4) in zip(x, slopes, strict=True))


Seed = int | np.random.SeedSequence | np.random.Generator


@dataclass(frozen=True)
class Attractor:
    """A system of three states without inputs, and the range and transient of random starts."""

    derivative: Derivative
    max_step: float  # longest step of the integration, in seconds
    # low, high: bounds of random starts
    low: tuple[float, float, float]
    high: tuple[float, float, float]
    transient: tuple[float, float]  # seconds until a random start is on the attractor, at least and at most

    def samples(self, seconds: float, dt: float, initial: ArrayLike | None, seed: Seed) -> FloatArray:
        """Return the samples, shape (round(seconds / dt) + 1, 3)."""
        for what, value in (("seconds", seconds), ("dt", dt)):
            real_number(what, value, POSITIVE)
        start = self._start(np.random.default_rng(seed)) if initial is None else np.asarray(initial, dtype=float)
        if start.shape != (3,):
            raise KoopsieveError(f"initial must hold the three states x, y, z. Got shape {start.shape}.")
        return self._run(start, round(seconds / dt), dt)

    def _start(self, rng: np.random.Generator) -> FloatArray:
        start = rng.uniform(self.low, self.high)
        least, most = self.transient
        seconds = least if least == most else rng.uniform(least, most)
        on_attractor: FloatArray = self._run(start, round(seconds / self.max_step), self.max_step)[-1]
        return on_attractor

    def _run(self, start: FloatArray, steps: int, dt: float) -> FloatArray:
        return integrate(self.derivative, start, np.empty((steps, 0)), dt, self.max_step)


def _lorenz(state: State, _: State) -> State:
    x, y, z = state
    return 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z


_LORENZ = Attractor(_lorenz, 1e-3, (-15.0, -15.0, 10.0), (15.0, 15.0, 40.0), (5.0, 5.0))


def lorenz(seconds: float = 6.0, dt: float = 1e-3, *, initial: ArrayLike | None = None, seed: Seed = 0) -> FloatArray:
    """Simulate the Lorenz attractor, σ = 10, ρ = 28, β = 8/3, and return its samples, without noise.

    Parameters
    ----------
    seconds, dt : float
        Duration and sample time.
    initial : array-like, shape (3,), optional
        State at time zero. Without it, a random start is simulated until it is on the attractor.
    seed : int, SeedSequence or Generator
        Random seed of the start; not used when `initial` is given.

    Returns
    -------
    array, shape (round(seconds / dt) + 1, 3)

    Examples
    --------
    >>> lorenz(1.0, 0.01, seed=1).shape
    (101, 3)
    """
    return _LORENZ.samples(seconds, dt, initial, seed)


BENCH_SAMPLE_TIME = 0.05  # seconds
_HOLD = 10  # samples for which the input of the bench stays the same
_MAX_STEP = 0.01  # seconds


def duffing(
    drive: ArrayLike,
    dt: float = 0.05,
    *,
    damping: float = 0.3,
    stiffness: float = -1.0,
    initial: Sequence[float] = (1.0, 0.0),
) -> FloatArray:
    """Simulate the Duffing oscillator under a drive held over each sample; return (x, ẋ), noise-free.

    Parameters
    ----------
    drive : array-like, shape (steps, 1)
        The input u.
    dt : float
        Sample time in seconds.
    damping : float
        δ.
    stiffness : float
        k; negative for two wells, positive for a spring that hardens.
    initial : sequence of float
        x and ẋ at time zero; (1, 0) is the bottom of a well where k = −1.

    Returns
    -------
    array, shape (steps + 1, 2)
    """

    def derivative(state: State, u: State) -> State:
        x, v = state
        return v, u[0] - damping * v - stiffness * x - x**3

    return integrate(derivative, initial, checked_drive(drive, "u"), dt, _MAX_STEP)


def van_der_pol(drive: ArrayLike, dt: float = 0.05, *, initial: Sequence[float] = (1.0, 0.0)) -> FloatArray:
    """Simulate the Van der Pol oscillator under a drive held over each sample; return (x, ẋ), noise-free.

    Parameters
    ----------
    drive : array-like, shape (steps, 1)
        The input u.
    dt : float
        Sample time in seconds.
    initial : sequence of float
        x and ẋ at time zero.

    Returns
    -------
    array, shape (steps + 1, 2)
    """

    def derivative(state: State, u: State) -> State:
        x, v = state
        return v, (1 - x * x) * v - x + u[0]

    return integrate(derivative, initial, checked_drive(drive, "u"), dt, _MAX_STEP)


def random_drive(steps: int, hold: int, amplitude: float, seed: Seed, columns: int = 1) -> FloatArray:
    """Return columns of uniform random levels in ±amplitude, each held for `hold` samples."""
    levels = np.random.default_rng(seed).uniform(-amplitude, amplitude, size=(-(-steps // hold), columns))
    return np.repeat(levels, hold, axis=0)[:steps]


def checked_drive(drive: ArrayLike, *columns: str) -> FloatArray:
    """Return inputs of shape (steps, columns), one row per sample; the last of several columns may be left out."""
    history = np.asarray(drive, dtype=float)
    if history.ndim != 2 or not max(len(columns) - 1, 1) <= history.shape[1] <= len(columns):
        named = f"the columns {', '.join(columns[:-1])} and, if wanted, {columns[-1]}" if columns[1:] else "one column"
        raise KoopsieveError(f"drive must have {named}, a row per sample. Got shape {history.shape}.")
    return history


def bench_record(samples: int, *, seed: int, noise: float = 1e-3) -> tuple[FloatArray, FloatArray]:
    """Return inputs and measured positions, both of shape (samples,), of ÿ + 0.4ẏ + y + y³ = u from rest.

    Parameters
    ----------
    samples : int
        Length of the record, one sample every 0.05 s.
    seed : int
        Random seed of the input, a random staircase, and of the noise.
    noise : float
        Standard deviation of the measurement noise; the position moves by about 0.6.
    """
    rng = np.random.default_rng(seed)
    u = 1.5 * np.repeat(rng.normal(size=samples // _HOLD + 1), _HOLD)[:samples]
    states = duffing(u[:-1, None], BENCH_SAMPLE_TIME, damping=0.4, stiffness=1.0, initial=(0.0, 0.0))
    return u, states[:, 0] + noise * rng.normal(size=samples)


SAMPLE_RATE = 78125.0  # Hz
_BAND = 15000.0  # Hz, excited by the multisine
_PERIOD = 4096  # samples of the multisine
_KNEE = 0.4  # volt, where the diodes start to conduct


@dataclass(frozen=True, eq=False)
class CircuitRecord:
    """Input and output of one multisine, both of shape (samples,)."""

    inputs: FloatArray
    outputs: FloatArray


def wiener_hammerstein(
    samples: int, *, seed: Seed, process_noise: float = 0.25, measurement_noise: float = 2e-4
) -> CircuitRecord:
    """Simulate one random-phase multisine through the circuit in its periodic steady state.

    Parameters
    ----------
    samples : int
        Length of the record.
    seed : int, SeedSequence or Generator
        Random seed of the phases and both noises.
    process_noise, measurement_noise : float
        Standard deviations in volt; the first enters before the saturation.
    """
    from scipy import signal  # here, because it takes a second to import and only this system needs it

    rng = np.random.default_rng(seed)
    u = _multisine(_PERIOD + samples, rng)  # one period for the filters to forget their start
    nyquist = SAMPLE_RATE / 2
    first = signal.cheby1(3, 0.5, 4400.0 / nyquist)
    second = signal.cheby2(3, 40.0, 5000.0 / nyquist)
    noise = signal.lfilter(*first, rng.normal(size=u.shape))
    inner = signal.lfilter(*first, u) + process_noise * noise / np.std(noise)
    y = signal.lfilter(*second, _saturate(inner)) + measurement_noise * rng.normal(size=u.shape)
    return CircuitRecord(u[_PERIOD:], y[_PERIOD:])


def _multisine(samples: int, rng: np.random.Generator) -> FloatArray:
    lines = np.arange(1, int(_BAND / SAMPLE_RATE * _PERIOD))
    spectrum = np.zeros(_PERIOD // 2 + 1, dtype=complex)
    spectrum[lines] = np.exp(2j * np.pi * rng.uniform(size=lines.size))
    one = np.fft.irfft(spectrum, _PERIOD)
    return np.resize(one / np.std(one), samples)


def _saturate(volt: FloatArray) -> FloatArray:
    """One-sided diode-resistor network: linear below the knee, a tenth of the slope above it, smooth between."""
    softness = 0.1
    above: FloatArray = softness * np.logaddexp(0.0, (volt - _KNEE) / softness)
    return volt - 0.9 * above
