"""Lorenz's 1996 model of weather on a ring: ẋ_i = (x_{i+1} − x_{i−2})·x_{i−1} − x_i + F, chaotic at F = 8."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.systems.differential_equations import State, integrate

_MAX_STEP = 0.01  # units of time
_TRANSIENT = 20.0  # until a random start is on the attractor


def lorenz96(
    seconds: float = 20.0,
    dt: float = 0.05,
    *,
    states: int = 6,
    forcing: float = 8.0,
    initial: ArrayLike | None = None,
    seed: int | np.random.SeedSequence | np.random.Generator = 0,
) -> FloatArray:
    """Simulate the ring and return its samples, without noise.

    Parameters
    ----------
    seconds, dt : float
        Duration and sample time, in the model's units (one is about five days).
    states : int
        Places on the ring, at least four.
    forcing : float
        F.
    initial : array-like, shape (states,), optional
        State at time zero. Without it, a random start is simulated until it is on the attractor.
    seed : int, SeedSequence or Generator
        Decides the random start; not used when `initial` is given.

    Returns
    -------
    array, shape (round(seconds / dt) + 1, states)

    Examples
    --------
    >>> lorenz96(1.0, 0.05, seed=1).shape
    (21, 6)
    """
    if not (seconds > 0 and dt > 0 and states >= 4):
        raise KoopsieveError(
            f"seconds and dt must be positive, states at least 4. Got seconds={seconds}, dt={dt}, states={states}."
        )

    def derivative(x: State, _: State) -> State:
        return tuple((x[(i + 1) % states] - x[i - 2]) * x[i - 1] - x[i] + forcing for i in range(states))

    def run(start: FloatArray, steps: int, step: float) -> FloatArray:
        return integrate(derivative, start, np.empty((steps, 0)), step, _MAX_STEP)

    if initial is None:
        random = forcing + np.random.default_rng(seed).normal(size=states)
        start = run(random, round(_TRANSIENT / _MAX_STEP), _MAX_STEP)[-1]
    else:
        start = np.asarray(initial, dtype=float)
    if start.shape != (states,):
        raise KoopsieveError(f"initial must hold {states} states. Got shape {start.shape}.")
    return run(start, round(seconds / dt), dt)
