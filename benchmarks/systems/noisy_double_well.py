"""A particle in two wells that is kicked at random: ẋ = v, v̇ = x − x³ − δv + σ·white noise. The state is (x, v).

The noise is part of the motion (process noise), not of the measurement: now and then it carries the particle from one
well into the other. Left alone long enough, v is normal with variance σ²/(2δ), whatever the wells look like.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError

_MAX_STEP = 0.01  # seconds


def double_well(
    steps: int,
    dt: float = 0.1,
    *,
    noise: float = 0.35,
    damping: float = 0.3,
    initial: Sequence[float] = (1.0, 0.0),
    seed: int | np.random.SeedSequence | np.random.Generator = 0,
) -> FloatArray:
    """Simulate the particle and return (x, v).

    Each short step kicks and damps v exactly, between two half steps of free motion in the wells.

    Parameters
    ----------
    steps : int
        Samples after the start.
    dt : float
        Sample time in seconds.
    noise : float
        σ.
    damping : float
        δ, positive.
    initial : sequence of float
        x and v at time zero.
    seed : int, SeedSequence or Generator
        Decides the kicks.

    Returns
    -------
    array, shape (steps + 1, 2)

    Examples
    --------
    >>> double_well(3, noise=0.0, initial=(1.0, 0.0)).tolist()
    [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]
    """
    if not (damping > 0 and noise >= 0 and dt > 0):
        raise KoopsieveError(
            f"dt and damping must be positive, noise not negative. Got dt={dt}, damping={damping}, noise={noise}."
        )
    substeps = max(1, math.ceil(dt / _MAX_STEP - 1e-9))
    h = dt / substeps
    decay = math.exp(-damping * h)
    kicks = (
        noise * math.sqrt((1 - decay**2) / (2 * damping)) * np.random.default_rng(seed).normal(size=steps * substeps)
    )
    x, v = (float(value) for value in initial)
    states = [(x, v)]
    for k, kick in enumerate(kicks.tolist()):
        x, v = _half_step(x, v, h / 2)
        x, v = _half_step(x, decay * v + kick, h / 2)
        if (k + 1) % substeps == 0:
            states.append((x, v))
    return np.array(states)


def _half_step(x: float, v: float, h: float) -> tuple[float, float]:
    """Move without damping and noise: velocity Verlet."""
    v += 0.5 * h * (x - x**3)
    x += h * v
    return x, v + 0.5 * h * (x - x**3)
