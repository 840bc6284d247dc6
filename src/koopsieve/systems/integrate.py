"""Fixed-step Runge–Kutta on plain floats: the same bits on every call, and fast for the few states of these systems."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from koopsieve._types import FloatArray

State = tuple[float, ...]
Derivative = Callable[[State, State], State]  # (state, input) -> time derivative of the state


def integrate(
    derivative: Derivative, initial: Iterable[float], inputs: FloatArray, dt: float, max_step: float
) -> FloatArray:
    """Return the states at 0, dt, 2·dt, …, one row more than `inputs`, each input row held for one sample.

    Parameters
    ----------
    derivative : callable
        State and input to the state's time derivative, all tuples of floats.
    initial : iterable of float
        State at time zero.
    inputs : array, shape (steps, l)
        Held constant over each sample (l may be zero).
    dt : float
        Sample time in seconds.
    max_step : float
        Longest internal step of the classical fourth-order Runge–Kutta method.
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
