"""Plants to control, and tasks for them: a surface vehicle (paper, Section 5.2), two tanks, a stirred tank reactor.

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

A linear model controls all three badly. In their tasks each is measured with noise, and after a third of the time
something that no sensor sees disturbs it: wind, a leak, a poorer feed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray
from koopsieve.systems.closed_loop import ControlTask
from koopsieve.systems.differential_equations import Seed, State, checked_drive, integrate, random_drive

INFINITE = float("inf")
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


_RATES, _FEED = (5 / 6, 5 / 3, 1 / 6), 10.0  # of the reactions (1/min, 1/min, l/(mol·min)); of A in the feed (mol/l)


def reactor_derivative(state: Any, drive: Any, maths: Any = np) -> Any:
    """Return the time derivative of (c_A, c_B) under the flow per volume.

    A second entry of `drive`, if given, is added to the concentration of the feed. `maths` is not used here.
    """
    a, b = state
    flow, richer = drive[0], drive[1] if len(drive) > 1 else 0.0
    k1, k2, k3 = _RATES
    return flow * (_FEED + richer - a) - k1 * a - k3 * a * a, k1 * a - k2 * b - flow * b


def vehicle_task(steps: int = 240) -> ControlTask:
    """Return the surface vehicle: follow surge and yaw rate over its whole speed range, forwards and backwards."""
    horizon, dt = 8, 0.5

    def derivative(state: Any, drive: Any, maths: Any) -> Any:
        return HERON_QUADRATIC.derivative(tuple(state), tuple(drive))

    time = dt * np.arange(steps + horizon + 1)
    surge, yaw = 0.3 + 0.7 * np.sin(0.2 * time), 0.5 * np.sin(0.35 * time + 1.0)
    return ControlTask(
        name="vehicle",
        outputs=("surge", "sway", "yaw"),
        inputs=("left", "right"),
        output_units=("m/s", "m/s", "rad/s"),
        input_units=("N", "N"),
        dt=dt,
        time_unit="s",
        max_step=0.05,
        derivative=derivative,
        noise=(0.01, 0.01, 0.01),
        initial=(0.3, 0.0, 0.4),
        acting=(0.0, 0.0),
        hold=3,
        horizon=horizon,
        output_weights=(1.0, 0.0, 1.0),
        rate_weights=(1e-5, 1e-5),
        input_limits=((-MAX_THRUST, -MAX_THRUST), (MAX_THRUST, MAX_THRUST)),
        output_limits=((-INFINITE,) * 3, (INFINITE,) * 3),
        reference=np.column_stack([surge, np.zeros_like(surge), yaw]),
        disturbance=after_a_third(steps, -4.0),
        disturbed_by="wind",
    )


def tanks_task(steps: int = 300) -> ControlTask:
    """Return the two tanks: follow the lower level from nearly empty to well beyond the overflow."""
    horizon = 20
    levels = np.array([0.20, 0.55, 0.10, 0.30, 0.66, 0.15, 0.60, 0.08, 0.40, 0.67, 0.25, 0.65])
    lower = smooth_steps(levels, 30, steps + horizon + 1, 25)
    return ControlTask(
        name="tanks",
        outputs=("upper", "lower"),
        inputs=("pump",),
        output_units=("m", "m"),
        input_units=("V",),
        dt=5.0,
        time_unit="s",
        max_step=0.5,
        derivative=tanks_derivative,
        noise=(0.003, 0.003),
        initial=(0.2, 0.2),
        acting=(2.7,),
        hold=8,
        horizon=horizon,
        output_weights=(0.0, 1.0),
        rate_weights=(1e-5,),
        input_limits=((0.0,), (10.0,)),
        output_limits=((-INFINITE,) * 2, (0.57, INFINITE)),
        reference=np.column_stack([np.zeros_like(lower), lower]),
        disturbance=after_a_third(steps, 8e-5),
        disturbed_by="a leak",
    )


def reactor_task(steps: int = 300) -> ControlTask:
    """Return the reactor: follow the product on both sides of its turning point."""
    horizon = 40
    levels = np.array([1.10, 1.20, 0.95, 1.15, 1.02, 1.18, 0.90, 1.12])
    product = smooth_steps(levels, 50, steps + horizon + 1, 30)
    return ControlTask(
        name="reactor",
        outputs=("reactant", "product"),
        inputs=("flow",),
        output_units=("mol/l", "mol/l"),
        input_units=("1/min",),
        dt=0.05,
        time_unit="min",
        max_step=0.01,
        derivative=reactor_derivative,
        noise=(0.02, 0.005),
        initial=(3.0, 1.117),
        acting=(4 / 7,),
        hold=10,
        horizon=horizon,
        output_weights=(0.0, 1.0),
        rate_weights=(3e-3,),
        input_limits=((0.2,), (1.6,)),
        output_limits=((-INFINITE,) * 2, (INFINITE,) * 2),
        reference=np.column_stack([np.zeros_like(product), product]),
        disturbance=after_a_third(steps, -0.4),
        disturbed_by="a poorer feed",
    )


def after_a_third(steps: int, size: float) -> FloatArray:
    """Return a disturbance (steps, 1) that begins after a third of the time."""
    return np.where(np.arange(steps)[:, None] < steps // 3, 0.0, size)


def smooth_steps(levels: FloatArray, hold: int, samples: int, width: int) -> FloatArray:
    """Return the levels one after the other, each held for a while, with smooth passages of `width` samples."""
    held = np.repeat(np.resize(levels, -(-samples // hold) + 1), hold)
    window = np.hanning(width + 2)[1:-1] / np.hanning(width + 2).sum()
    padded = np.concatenate([np.full(width, held[0]), held])
    return np.convolve(padded, window, "same")[width : width + samples]
