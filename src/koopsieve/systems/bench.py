"""A hardening spring as a test bench records it: input and position, with noise. For examples and the docs."""

from __future__ import annotations

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.systems.oscillators import duffing

SAMPLE_TIME = 0.05  # seconds
_HOLD = 10  # samples for which the input stays the same


def bench_record(samples: int, *, seed: int, noise: float = 1e-3) -> tuple[FloatArray, FloatArray]:
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
    states = duffing(u[:-1, None], SAMPLE_TIME, damping=0.4, stiffness=1.0, initial=(0.0, 0.0))
    return u, states[:, 0] + noise * rng.normal(size=samples)
