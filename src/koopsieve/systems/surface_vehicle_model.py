"""An underactuated surface vehicle with two thrusters, in surge, sway and yaw (paper, Section 5.2).

m₁₁ u̇ = m₂₂ v r − X u + (T_l + T_r),  m₂₂ v̇ = −m₁₁ u r − Y v,  m₃₃ ṙ = −(m₂₂ − m₁₁) u v − N r + b (T_r − T_l), with
drag X u = (linear + quadratic·|u|)·u and alike for the others. The paper takes its vehicle from another work and prints
no table of parameters; the two sets here are Heron-like and neither is confirmed to be the paper's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.systems.integrate import State, integrate

MAX_THRUST = 20.0  # newton, each thruster, both directions
_MAX_STEP = 0.02  # seconds


@dataclass(frozen=True)
class SurfaceVehicle:
    """Masses (with added mass), linear and quadratic drag of surge, sway, yaw, and the thrusters' lever arm."""

    mass: tuple[float, float, float]
    linear_drag: tuple[float, float, float]
    quadratic_drag: tuple[float, float, float]
    lever: float

    def derivative(self, state: State, thrust: State) -> State:
        """Return the time derivative of (surge, sway, yaw rate) under (left, right) thrust.

        A third entry, if given, is a push along the surge that no thruster makes: wind, or a tow.
        """
        u, v, r = state
        left, right, push = thrust if len(thrust) > 2 else (*thrust, 0.0)
        m1, m2, m3 = self.mass
        drag_u, drag_v, drag_r = (
            (linear + quadratic * abs(speed)) * speed
            for linear, quadratic, speed in zip(self.linear_drag, self.quadratic_drag, state, strict=True)
        )
        return (
            (m2 * v * r - drag_u + left + right + push) / m1,
            (-m1 * u * r - drag_v) / m2,
            (-(m2 - m1) * u * v - drag_r + self.lever * (right - left)) / m3,
        )


HERON = SurfaceVehicle((38 + 1.9, 38 + 29.317, 6.25 + 4.2155), (26.43, 72.64, 22.96), (0.0, 0.0, 0.0), 0.37)
HERON_QUADRATIC = SurfaceVehicle((28.0, 28.0, 10.0), (16.45, 15.80, 6.0), (2.942, 2.762, 5.0), 0.3777)


def surface_vehicle(
    thrust: ArrayLike, dt: float = 0.1, *, vehicle: SurfaceVehicle = HERON, initial: Sequence[float] = (0.0, 0.0, 0.0)
) -> FloatArray:
    """Simulate the vehicle under a thrust history held over each sample; return (surge, sway, yaw rate), noise-free.

    Parameters
    ----------
    thrust : array-like, shape (steps, 2) or (steps, 3)
        Left and right thrust in newton, and a push along the surge.
    dt : float
        Sample time in seconds.
    vehicle : SurfaceVehicle
        `HERON` or `HERON_QUADRATIC`, or one of your own.
    initial : sequence of float
        Surge (m/s), sway (m/s) and yaw rate (rad/s) at time zero.

    Returns
    -------
    array, shape (steps + 1, 3)
    """
    history = np.asarray(thrust, dtype=float)
    if history.ndim != 2 or history.shape[1] not in (2, 3):
        raise KoopsieveError(f"thrust must have two columns, left and right. Got shape {history.shape}.")
    return integrate(vehicle.derivative, initial, history, dt, _MAX_STEP)


def random_thrust(steps: int, hold: int, seed: int | np.random.SeedSequence | np.random.Generator) -> FloatArray:
    """Return uniform random thrusts in ±20 N, each thruster holding every level for `hold` samples."""
    rng = np.random.default_rng(seed)
    levels = rng.uniform(-MAX_THRUST, MAX_THRUST, size=(-(-steps // hold), 2))
    return np.repeat(levels, hold, axis=0)[:steps]
