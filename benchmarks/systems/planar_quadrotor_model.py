"""A quadrotor in a vertical plane that its own controller holds near a commanded position.

m·v̇_x = −T·sin θ,  m·v̇_z = T·cos θ − m·g,  J·ω̇ = τ, with the thrust T and the torque τ of a cascade of proportional and
derivative feedback: T holds the height, τ holds the tilt that moves the craft sideways. A quadrotor without feedback
falls, so what is identified from flight data is always this closed loop; its inputs are the commanded positions. Units
are metres, radians and seconds, all forces per mass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.systems.differential_equations import State, integrate

_MAX_STEP = 0.01  # seconds
GRAVITY = 9.81


@dataclass(frozen=True)
class PlanarQuadrotor:
    """Feedback gains (proportional, derivative) of the loops, and what the craft can do at most.

    Parameters
    ----------
    sideways, height, tilt : pair of float
        Gains of the three loops.
    most_tilt : float
        Largest tilt that is commanded, in radians.
    most_thrust : float
        Largest thrust per weight; the least is a fifth of the weight.
    """

    sideways: tuple[float, float] = (1.5, 1.6)
    height: tuple[float, float] = (4.0, 2.5)
    tilt: tuple[float, float] = (60.0, 11.0)
    most_tilt: float = 0.8
    most_thrust: float = 2.0

    def derivative(self, state: State, command: State) -> State:
        """Return the time derivative of (x, z, θ, v_x, v_z, ω) under the commanded position (x, z)."""
        x, z, angle, vx, vz, rate = state
        aside = self.sideways[0] * (command[0] - x) - self.sideways[1] * vx
        wanted = -self.most_tilt * math.tanh(aside / (GRAVITY * self.most_tilt))
        lift = GRAVITY + self.height[0] * (command[1] - z) - self.height[1] * vz
        thrust = min(max(lift, 0.2 * GRAVITY), self.most_thrust * GRAVITY)
        turn = self.tilt[0] * (wanted - angle) - self.tilt[1] * rate
        return vx, vz, rate, -thrust * math.sin(angle), thrust * math.cos(angle) - GRAVITY, turn


def planar_quadrotor(
    command: ArrayLike,
    dt: float = 0.05,
    *,
    craft: PlanarQuadrotor | None = None,
    initial: Sequence[float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
) -> FloatArray:
    """Simulate the craft under commands held over each sample; return (x, z, θ, v_x, v_z, ω), noise-free.

    Parameters
    ----------
    command : array-like, shape (steps, 2)
        Where to be: x and z in metres.
    dt : float
        Sample time in seconds.
    craft : PlanarQuadrotor, optional
    initial : sequence of float
        State at time zero; the default hovers at the origin.

    Returns
    -------
    array, shape (steps + 1, 6)

    Examples
    --------
    >>> planar_quadrotor(np.zeros((2, 2))).any()
    np.False_
    """
    history = np.asarray(command, dtype=float)
    if history.ndim != 2 or history.shape[1] != 2:
        raise KoopsieveError(f"command must have the columns x and z. Expected (steps, 2), got {history.shape}.")
    return integrate((craft or PlanarQuadrotor()).derivative, initial, history, dt, _MAX_STEP)
