"""A forced Duffing oscillator as a test bench records it: input and position, with noise. For examples and the docs."""

from __future__ import annotations

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.experiments.systems.integrate import State, integrate

SAMPLE_TIME = 0.05  # seconds
_HOLD = 10  # samples for which the input stays the same
_DAMPING, _STIFFNESS, _HARDENING = 0.4, 1.0, 1.0


def duffing(samples: int, *, seed: int, noise: float = 1e-3) -> tuple[FloatArray, FloatArray]:
    """Return inputs and measured positions, both of shape (samples,), of ÿ + 0.4ẏ + y + y³ = u from rest.

    Parameters
    ----------
    samples : int
        Length of the record, one sample every 0.05 s.
    seed : int
        Decides the input, a random staircase, and the noise.
    noise : float
        Standard deviation of the measurement noise; the position moves by about 0.6.
    """
    rng = np.random.default_rng(seed)
    u = 1.5 * np.repeat(rng.normal(size=samples // _HOLD + 1), _HOLD)[:samples]
    states = integrate(_derivative, (0.0, 0.0), u[:-1, None], SAMPLE_TIME, max_step=0.01)
    return u, states[:, 0] + noise * rng.normal(size=samples)


def _derivative(x: State, u: State) -> State:
    position, speed = x
    return speed, u[0] - _DAMPING * speed - _STIFFNESS * position - _HARDENING * position**3
