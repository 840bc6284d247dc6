"""Three plants that a linear model controls badly: a vehicle with quadratic drag, two tanks, a stirred tank reactor.

Each is measured with noise, and after a third of the time something that no sensor sees disturbs it: wind, a leak, a
poorer feed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.systems.closed_loop import ControlTask
from koopsieve.systems.plants import HERON_QUADRATIC, MAX_THRUST, reactor_derivative, tanks_derivative

INFINITE = float("inf")


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


def control_tasks() -> tuple[ControlTask, ...]:
    """Return all three."""
    return vehicle_task(), tanks_task(), reactor_task()


def after_a_third(steps: int, size: float) -> FloatArray:
    """Return a disturbance (steps, 1) that begins after a third of the time."""
    return np.where(np.arange(steps)[:, None] < steps // 3, 0.0, size)


def smooth_steps(levels: FloatArray, hold: int, samples: int, width: int) -> FloatArray:
    """Return the levels one after the other, each held for a while, with smooth passages of `width` samples."""
    held = np.repeat(np.resize(levels, -(-samples // hold) + 1), hold)
    window = np.hanning(width + 2)[1:-1] / np.hanning(width + 2).sum()
    padded = np.concatenate([np.full(width, held[0]), held])
    return np.convolve(padded, window, "same")[width : width + samples]
