"""Two driven oscillators that benchmarks of identification use, Duffing and Van der Pol, and a record of a test bench.

Duffing: ẍ = u − δẋ − kx − x³, k = −1 for two wells.  Van der Pol: ẍ = μ(1 − x²)ẋ − x + u. The state is (x, ẋ).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.systems.integrate import State, integrate

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

    return integrate(derivative, initial, _checked(drive), dt, _MAX_STEP)


def van_der_pol(
    drive: ArrayLike, dt: float = 0.05, *, mu: float = 1.0, initial: Sequence[float] = (1.0, 0.0)
) -> FloatArray:
    """Simulate the Van der Pol oscillator under a drive held over each sample; return (x, ẋ), noise-free.

    Parameters
    ----------
    drive : array-like, shape (steps, 1)
        The input u.
    dt : float
        Sample time in seconds.
    mu : float
        Strength of the nonlinear damping.
    initial : sequence of float
        x and ẋ at time zero.

    Returns
    -------
    array, shape (steps + 1, 2)
    """

    def derivative(state: State, u: State) -> State:
        x, v = state
        return v, mu * (1 - x * x) * v - x + u[0]

    return integrate(derivative, initial, _checked(drive), dt, _MAX_STEP)


def random_drive(
    steps: int, hold: int, amplitude: float, seed: int | np.random.SeedSequence | np.random.Generator
) -> FloatArray:
    """Return one column of uniform random levels in ±amplitude, each held for `hold` samples."""
    rng = np.random.default_rng(seed)
    levels = rng.uniform(-amplitude, amplitude, size=(-(-steps // hold), 1))
    return np.repeat(levels, hold, axis=0)[:steps]


def _checked(drive: ArrayLike) -> FloatArray:
    history = np.asarray(drive, dtype=float)
    if history.ndim != 2 or history.shape[1] != 1:
        raise KoopsieveError(f"drive must have one column. Expected (steps, 1), got {history.shape}.")
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
