"""Four more plants to control: a car whose tyres saturate, a heater with dead time, four tanks, a levitated ball.

None of them was looked at when candidates and controllers were made. Not everything is measured: the levels of the
upper tanks and the speed of the ball are not.
"""

from typing import Any

import numpy as np

from koopsieve.systems import ControlTask
from koopsieve.systems.plants import INFINITE, after_a_third, smooth_steps

GRAVITY = 9.81


def car_task(steps: int = 300) -> ControlTask:
    """Return a car at 20 m/s: follow a yaw rate up to the limit of its tyres, with side wind later on.

    Slip angles α = δ − (v + a·r)/V at the front and −(v − b·r)/V at the rear; tyre forces D·sin(C·atan(B·α)).
    """
    mass, inertia, front, rear, speed = 1500.0, 2500.0, 1.2, 1.5, 20.0
    peak, shape, stiffness = 0.9 * mass * GRAVITY / 2, 1.5, 8.0

    def derivative(state: Any, drive: Any, maths: Any) -> Any:
        sideways, yaw = state
        steer, wind = 0.1 * drive[0], drive[1] if len(drive) > 1 else 0.0  # steering in tenths of a radian
        slips = steer - (sideways + front * yaw) / speed, -(sideways - rear * yaw) / speed
        forces = [peak * maths.sin(shape * maths.arctan(stiffness * slip)) for slip in slips]
        return (forces[0] + forces[1] + wind) / mass - speed * yaw, (front * forces[0] - rear * forces[1]) / inertia

    horizon = 20
    yaw = smooth_steps(np.array([0.0, 0.2, -0.3, 0.38, -0.1, -0.38, 0.3, 0.05]), 35, steps + horizon + 1, 15)
    return ControlTask(
        name="car",
        outputs=("sideways", "yaw"),
        inputs=("steer",),
        output_units=("m/s", "rad/s"),
        input_units=("0.1 rad",),
        dt=0.05,
        time_unit="s",
        max_step=0.01,
        derivative=derivative,
        noise=(0.02, 0.004),
        initial=(0.0, 0.0),
        acting=(0.0,),
        hold=8,
        horizon=horizon,
        output_weights=(0.0, 1.0),
        rate_weights=(1e-3,),
        input_limits=((-1.5,), (1.5,)),
        output_limits=((-INFINITE,) * 2, (INFINITE,) * 2),
        reference=np.column_stack([np.zeros_like(yaw), yaw]),
        disturbance=after_a_third(steps, 600.0),
        disturbed_by="side wind",
    )


def heater_task(steps: int = 300) -> ControlTask:
    """Return a heater: its power is the square of the voltage, and reaches the sensor four samples later."""
    horizon = 30

    def derivative(state: Any, drive: Any, maths: Any) -> Any:
        cooler = drive[1] if len(drive) > 1 else 0.0
        return ((20.0 + cooler - state[0]) / 60.0 + 0.02 * drive[0] ** 2,)

    warm = smooth_steps(np.array([30.0, 60.0, 45.0, 90.0, 35.0, 75.0]), 50, steps + horizon + 1, 10)
    return ControlTask(
        name="heater",
        outputs=("temperature",),
        inputs=("voltage",),
        output_units=("°C",),
        input_units=("V",),
        dt=5.0,
        time_unit="s",
        max_step=1.0,
        derivative=derivative,
        noise=(0.2,),
        initial=(30.0,),
        acting=(2.9,),
        hold=8,
        horizon=horizon,
        output_weights=(1.0,),
        rate_weights=(0.1,),
        input_limits=((0.0,), (10.0,)),
        output_limits=((-INFINITE,), (INFINITE,)),
        reference=warm[:, None],
        disturbance=after_a_third(steps, -8.0),
        disturbed_by="a colder room",
        dead_time=4,
    )


def four_tanks_task(steps: int = 300) -> ControlTask:
    """Return four tanks in the layout of Johansson (2000), two pumps that each feed a lower and an upper tank."""
    areas, holes = (28.0, 32.0, 28.0, 32.0), (0.071, 0.057, 0.071, 0.057)
    gains, shares, g = (3.33, 3.35), (0.7, 0.6), 981.0

    def derivative(state: Any, drive: Any, maths: Any) -> Any:
        leak = drive[2] if len(drive) > 2 else 0.0
        out = [hole * maths.sqrt(2 * g * maths.fmax(level, 1e-3)) for hole, level in zip(holes, state, strict=True)]
        pumped = [gain * drive[i] for i, gain in enumerate(gains)]
        flows = (
            out[2] - out[0] + shares[0] * pumped[0] - leak,
            out[3] - out[1] + shares[1] * pumped[1],
            (1 - shares[1]) * pumped[1] - out[2],
            (1 - shares[0]) * pumped[0] - out[3],
        )
        return tuple(flow / area for flow, area in zip(flows, areas, strict=True))

    horizon = 20
    first = smooth_steps(np.array([12.0, 18.0, 8.0, 14.0, 5.0, 16.0]), 50, steps + horizon + 1, 15)
    second = smooth_steps(np.array([12.5, 10.0, 16.0, 6.0, 9.0, 18.0]), 50, steps + horizon + 1, 15)
    return ControlTask(
        name="four tanks",
        outputs=("first", "second"),
        inputs=("left", "right"),
        output_units=("cm", "cm"),
        input_units=("V", "V"),
        dt=6.0,
        time_unit="s",
        max_step=1.0,
        derivative=derivative,
        noise=(0.05, 0.05),
        initial=(12.4, 12.7, 1.8, 1.4),
        acting=(3.0, 3.0),
        hold=10,
        horizon=horizon,
        output_weights=(1.0, 1.0),
        rate_weights=(0.1, 0.1),
        input_limits=((0.0, 0.0), (6.0, 6.0)),
        output_limits=((-INFINITE,) * 2, (INFINITE,) * 2),
        reference=np.column_stack([first, second]),
        disturbance=after_a_third(steps, 1.5),
        disturbed_by="a leak",
        measured=(0, 1),
    )


def levitation_task(steps: int = 300) -> ControlTask:
    """Return an iron ball under a magnet: without feedback it falls. Gap and current are measured, the speed is not.

    The gap grows by ẍ = g − k·(i/x)², the current follows the voltage in 10 ms. Units: mm, A, V and hundredths of a
    second. A ball that falls ends on a soft floor at 20 mm.
    """
    g, pull = 0.981, 0.981 * 100.0  # mm per (0.01 s)²; one ampere holds the ball at 10 mm

    def derivative(state: Any, drive: Any, maths: Any) -> Any:
        gap, speed, current = state
        push = drive[1] if len(drive) > 1 else 0.0
        floor = 0.5 * maths.fmax(gap - 20.0, 0.0)
        force = pull * (current / maths.fmax(gap, 2.0)) ** 2
        return speed, g - force + push - floor * (1 + speed), drive[0] - current

    def stabilise(state: np.ndarray, level: np.ndarray) -> np.ndarray:
        gap, speed, current = state
        wanted = 10.0 + 2.0 * (level[0] - 1.5)
        held = wanted / 10.0 + 0.3 * (gap - wanted) + 0.5 * speed
        return np.array([held + 1.5 * (held - current)])

    horizon = 15
    gap = smooth_steps(np.array([10.0, 11.5, 8.5, 12.0, 9.0, 7.5]), 50, steps + horizon + 1, 20)
    return ControlTask(
        name="levitation",
        outputs=("gap", "current"),
        inputs=("voltage",),
        output_units=("mm", "A"),
        input_units=("V",),
        dt=0.4,
        time_unit="0.01 s",
        max_step=0.05,
        derivative=derivative,
        noise=(0.005, 0.002),
        initial=(10.0, 0.0, 1.0),
        acting=(1.0,),
        hold=12,
        horizon=horizon,
        output_weights=(1.0, 0.0),
        rate_weights=(0.01,),
        input_limits=((0.0,), (3.0,)),
        output_limits=((-INFINITE,) * 2, (INFINITE,) * 2),
        reference=np.column_stack([gap, np.zeros_like(gap)]),
        disturbance=after_a_third(steps, 0.05),
        disturbed_by="a heavier ball",
        measured=(0, 2),
        stabilise=stabilise,
    )


def unseen_tasks() -> tuple[ControlTask, ...]:
    """Return all four."""
    return car_task(), heater_task(), four_tanks_task(), levitation_task()
