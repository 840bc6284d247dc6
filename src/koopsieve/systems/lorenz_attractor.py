"""The Lorenz attractor with the classical parameters σ = 10, ρ = 28, β = 8/3 (paper, Section 5.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.systems.integrate import State, integrate

SIGMA, RHO, BETA = 10.0, 28.0, 8.0 / 3.0
_MAX_STEP = 1e-3  # seconds; leaves a global error near 1e-9 over one second
_TRANSIENT = 5.0  # seconds until a random start has fallen onto the attractor


def lorenz(
    seconds: float = 6.0,
    dt: float = 1e-3,
    *,
    initial: ArrayLike | None = None,
    seed: int | np.random.SeedSequence | np.random.Generator = 0,
) -> FloatArray:
    """Simulate the Lorenz attractor and return its samples, without noise.

    Parameters
    ----------
    seconds, dt : float
        Duration and sample time.
    initial : array-like, shape (3,), optional
        State at time zero. Without it, a random start is simulated until it is on the attractor.
    seed : int, SeedSequence or Generator
        Decides the random start; not used when `initial` is given.

    Returns
    -------
    array, shape (round(seconds / dt) + 1, 3)

    Examples
    --------
    >>> lorenz(1.0, 0.01, seed=1).shape
    (101, 3)
    """
    if not (seconds > 0 and dt > 0):
        raise KoopsieveError(f"seconds and dt must be positive. Got seconds={seconds}, dt={dt}.")
    start = _on_the_attractor(np.random.default_rng(seed)) if initial is None else np.asarray(initial, dtype=float)
    if start.shape != (3,):
        raise KoopsieveError(f"initial must hold the three states x, y, z. Got shape {start.shape}.")
    return integrate(_derivative, start, np.empty((round(seconds / dt), 0)), dt, _MAX_STEP)


def _derivative(state: State, _: State) -> State:
    x, y, z = state
    return SIGMA * (y - x), x * (RHO - z) - y, x * y - BETA * z


def _on_the_attractor(rng: np.random.Generator) -> FloatArray:
    start = rng.uniform([-15.0, -15.0, 10.0], [15.0, 15.0, 40.0])
    steps = round(_TRANSIENT / _MAX_STEP)
    on_attractor: FloatArray = integrate(_derivative, start, np.empty((steps, 0)), _MAX_STEP, _MAX_STEP)[-1]
    return on_attractor
