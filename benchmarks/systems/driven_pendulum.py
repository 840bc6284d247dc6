"""A damped pendulum under a torque: θ̈ = u − δθ̇ − (g/l)·sin θ. The state is (θ, θ̇)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.systems.differential_equations import State, integrate

_MAX_STEP = 0.01  # seconds


def pendulum(
    torque: ArrayLike,
    dt: float = 0.05,
    *,
    damping: float = 0.3,
    stiffness: float = 4.0,
    initial: Sequence[float] = (0.0, 0.0),
) -> FloatArray:
    """Simulate the pendulum under a torque held over each sample; return (θ, θ̇), noise-free.

    Parameters
    ----------
    torque : array-like, shape (steps, 1)
        The input u, per moment of inertia.
    dt : float
        Sample time in seconds.
    damping : float
        δ.
    stiffness : float
        g/l: small swings have the angular frequency √(g/l).
    initial : sequence of float
        θ and θ̇ at time zero; θ = 0 is hanging down. The angle is not wrapped.

    Returns
    -------
    array, shape (steps + 1, 2)

    Examples
    --------
    >>> pendulum(np.zeros((3, 1)), initial=(0.0, 0.0)).tolist()
    [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    """
    history = np.asarray(torque, dtype=float)
    if history.ndim != 2 or history.shape[1] != 1:
        raise KoopsieveError(f"torque must have one column. Expected (steps, 1), got {history.shape}.")

    def derivative(state: State, u: State) -> State:
        angle, speed = state
        return speed, u[0] - damping * speed - stiffness * math.sin(angle)

    return integrate(derivative, initial, history, dt, _MAX_STEP)
