"""The Rössler attractor, ẋ = −y − z, ẏ = x + ay, ż = b + z(x − c), with a = b = 0.2 and c = 5.7."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.systems.integrate import State, integrate

A, B, C = 0.2, 0.2, 5.7
_MAX_STEP = 0.01  # seconds
_TRANSIENT = 60.0  # seconds until a random start has fallen onto the attractor


def rossler(
    seconds: float = 100.0,
    dt: float = 0.1,
    *,
    initial: ArrayLike | None = None,
    seed: int | np.random.SeedSequence | np.random.Generator = 0,
) -> FloatArray:
    """Simulate the Rössler attractor and return its samples, without noise.

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
    >>> rossler(1.0, 0.1, seed=1).shape
    (11, 3)
    """
    if not (seconds > 0 and dt > 0):
        raise KoopsieveError(f"seconds and dt must be positive. Got seconds={seconds}, dt={dt}.")
    start = _on_the_attractor(np.random.default_rng(seed)) if initial is None else np.asarray(initial, dtype=float)
    if start.shape != (3,):
        raise KoopsieveError(f"initial must hold the three states x, y, z. Got shape {start.shape}.")
    return integrate(_derivative, start, np.empty((round(seconds / dt), 0)), dt, _MAX_STEP)


def _derivative(state: State, _: State) -> State:
    x, y, z = state
    return -y - z, x + A * y, B + z * (x - C)


def _on_the_attractor(rng: np.random.Generator) -> FloatArray:
    start = rng.uniform([-5.0, -5.0, 0.0], [5.0, 5.0, 1.0])
    steps = round(_TRANSIENT * rng.uniform(1.0, 2.0) / _MAX_STEP)  # at a random place of it
    on_attractor: FloatArray = integrate(_derivative, start, np.empty((steps, 0)), _MAX_STEP, _MAX_STEP)[-1]
    return on_attractor
