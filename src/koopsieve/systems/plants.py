"""Plants to control: a surface vehicle (paper, Section 5.2), two tanks, a stirred tank reactor.

*Vehicle*, with two thrusters, in surge, sway and yaw: m₁₁ u̇ = m₂₂ v r − X u + (T_l + T_r),  m₂₂ v̇ = −m₁₁ u r − Y v,
m₃₃ ṙ = −(m₂₂ − m₁₁) u v − N r + b (T_r − T_l), with drag X u = (linear + quadratic·|u|)·u and alike for the others. The
paper takes its vehicle from another work and prints no table of parameters; the two sets here are Heron-like and
neither is confirmed to be the paper's own.

*Tanks*, one draining into the other, of which the upper one overflows: A₁ ḣ₁ = p·u − a₁√h₁ − w(h₁),
A₂ ḣ₂ = a₁√h₁ + s·w(h₁) − a₂√h₂ − leak, with the overflow w(h) = k·max(h − rim, 0)^1.5, of which the share s falls into
the lower tank. Levels are in metres, the pump in volts, time in seconds.

*Reactor* with the van de Vusse reaction A → B → C and 2A → D: ċ_A = u·(c_f − c_A) − k₁c_A − k₃c_A²,
ċ_B = k₁c_A − k₂c_B − u·c_B, with the flow per volume u as input. At rest the product B is largest at one flow and falls
on both sides of it: the gain from flow to product changes its sign there, and below it the product first moves the
wrong way. Concentrations are in mol/l, time in minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray
from koopsieve.systems.differential_equations import Seed, State, checked_drive, integrate, random_drive

MAX_THRUST = 20.0  # newton, each thruster, both directions
_VEHICLE_STEP = 0.02  # seconds


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
    return integrate(vehicle.derivative, initial, checked_drive(thrust, "left", "right", "push"), dt, _VEHICLE_STEP)


def random_thrust(steps: int, hold: int, seed: Seed) -> FloatArray:
    """Return uniform random thrusts in ±20 N, each thruster holding every level for `hold` samples."""
    return random_drive(steps, hold, MAX_THRUST, seed, columns=2)


_TANKS_STEP = 0.5  # seconds
_AREA, _OUTLET, _PUMP = 0.05, 1.2e-3, 2.0e-4  # of both tanks: m², m^2.5/s, and m³/s per volt
_RIM, _WEIR = 0.5, 0.04  # metre; overflow per level above the rim to the power 1.5
_SHARE = 0.3  # of the overflow, which falls into the lower tank
_DRY = 1e-6  # metre; below this level outlets run dry smoothly


def tanks_derivative(levels: Any, drive: Any, maths: Any = np) -> Any:
    """Return the time derivative of both levels under the pump's voltage and, if given, a leak (m³/s).

    `maths` holds sqrt and fmax: NumPy, or CasADi for symbolic levels.
    """
    upper, lower = levels
    leak = drive[1] if len(drive) > 1 else 0.0
    through, out = (_OUTLET * maths.sqrt(maths.fmax(level, _DRY)) for level in (upper, lower))
    above = maths.fmax(upper - _RIM, 0.0)
    over = _WEIR * above * maths.sqrt(above + _DRY)
    return (_PUMP * drive[0] - through - over) / _AREA, (through + _SHARE * over - out - leak) / _AREA


def two_tanks(drive: ArrayLike, dt: float = 5.0, *, initial: tuple[float, float] = (0.2, 0.2)) -> FloatArray:
    """Simulate the levels under a voltage held over each sample; return (upper, lower), noise-free.

    Parameters
    ----------
    drive : array-like, shape (steps, 1) or (steps, 2)
        Voltage of the pump, and a leak of the lower tank in m³/s.
    dt : float
        Sample time in seconds.
    initial : pair of float
        Levels at time zero.

    Returns
    -------
    array, shape (steps + 1, 2)
    """

    def derivative(levels: State, held: State) -> State:
        upper, lower = tanks_derivative(levels, held)
        return float(upper), float(lower)

    history = checked_drive(drive, "voltage", "leak")
    return np.maximum(integrate(derivative, initial, history, dt, _TANKS_STEP), 0.0)


_REACTOR_STEP = 0.01  # minutes
_RATES, _FEED = (5 / 6, 5 / 3, 1 / 6), 10.0  # of the reactions (1/min, 1/min, l/(mol·min)); of A in the feed (mol/l)


def reactor_derivative(state: Any, drive: Any, maths: Any = np) -> Any:
    """Return the time derivative of (c_A, c_B) under the flow per volume.

    A second entry of `drive`, if given, is added to the concentration of the feed. `maths` is not used here.
    """
    a, b = state
    flow, richer = drive[0], drive[1] if len(drive) > 1 else 0.0
    k1, k2, k3 = _RATES
    return flow * (_FEED + richer - a) - k1 * a - k3 * a * a, k1 * a - k2 * b - flow * b


def stirred_tank(drive: ArrayLike, dt: float = 0.05, *, initial: Sequence[float] = (3.0, 1.117)) -> FloatArray:
    """Simulate the reactor under a flow held over each sample; return (c_A, c_B), noise-free.

    Parameters
    ----------
    drive : array-like, shape (steps, 1) or (steps, 2)
        Flow per volume in 1/min, and what is added to the concentration of the feed.
    dt : float
        Sample time in minutes.
    initial : sequence of float
        Concentrations at time zero; the default is at rest with a flow of 4/7.

    Returns
    -------
    array, shape (steps + 1, 2)
    """
    return integrate(reactor_derivative, initial, checked_drive(drive, "flow", "feed"), dt, _REACTOR_STEP)
