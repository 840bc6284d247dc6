"""The program that compares an exported controller with Python: a short closed loop around the model itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray
from koopsieve.export.c.literals import number, table

if TYPE_CHECKING:
    from koopsieve.control.controller import ControlLaw

STEPS, HOLD = 12, 6  # of the closed loop, and steps for which a reference stays
NOISE_SHARE = 0.003  # of the working range, added to every output
WORSE = 0.02  # share of the cost by which a plan in C may be above that of Python
TOLERANCE, SINGLE_TOLERANCE = 1e-9, 2e-3  # of the largest number that the estimate holds


@dataclass(frozen=True, eq=False)
class Recorded:
    """What a controller in Python was given, and what it made of it, a row per step.

    Parameters
    ----------
    measured, reference : array, shape (steps, n_outputs)
    forecast : array, shape (steps, measured inputs)
    acted : array, shape (steps, moved inputs)
        The inputs that acted before each step.
    estimate : array, shape (steps, 2, size)
        What the model carries, and the disturbance.
    cost : array, shape (steps,)
    """

    measured: FloatArray
    reference: FloatArray
    forecast: FloatArray
    acted: FloatArray
    estimate: FloatArray
    cost: FloatArray


def recorded(law: ControlLaw, acting: ArrayLike, seed: int = 0) -> Recorded:
    """Run the law around its own model, with a little noise."""
    problem, rng = law.problem, np.random.default_rng(seed)
    model = problem.model
    n, states = len(model.signals.outputs), len(model.signals.state_names)
    low, high = model.working_range()
    width, state = (high - low)[:n], law.start(acting)
    measured = low[:n] + width / 2
    pinned = states + problem.pinned
    rows: list[tuple[FloatArray, ...]] = []
    for k in range(STEPS):
        if k % HOLD == 0:
            reference = low[:n] + width * rng.uniform(0.35, 0.65, n)
        forecast = low[pinned] + (high - low)[pinned] * rng.uniform(0.4, 0.6, len(pinned))
        acted = state.acting[problem.moved]
        state = law.step(state, measured, reference, None, forecast if len(pinned) else None)
        if state.plan is None or state.situation is None:
            raise RuntimeError("A step of a control law leaves a plan and a situation.")
        now = state.situation.carried
        estimate = np.stack([now, state.situation.disturbance])
        rows.append((measured, reference, forecast, acted, estimate, np.array(state.plan.cost)))
        expected = model.read(model.advance(now[None], state.acting[None]))[0]
        measured = expected + NOISE_SHARE * width * rng.normal(size=n)
    return Recorded(*(np.array(column) for column in zip(*rows, strict=True)))


def checking_program(found: Recorded) -> str:
    """Return the program; it fails where estimates differ, or a plan costs more than that of Python."""
    size = max(float(np.abs(found.estimate).max()), float(np.abs(found.measured).max()))
    forecast = found.forecast if found.forecast.size else np.zeros((STEPS, 1))
    smallest = 1e-9 * float(found.cost.max())
    return f"""/* Compares @name@.c with what Python computed in a short closed loop. Written by koopsieve. */
#include <math.h>
#include <stdio.h>

#include "@name@.h"

#ifdef KOOPSIEVE_FLOAT32
#define TOLERANCE {number(SINGLE_TOLERANCE * size)}
#else
#define TOLERANCE {number(TOLERANCE * size)}
#endif

{table("measured", found.measured)}{table("reference", found.reference)}{table("forecast", forecast)}{
        table("acted", found.acted)
    }{table("estimate_expected", found.estimate)}{table("cost_expected", found.cost)}
static @name@_t controller;

int main(void)
{{
    real_t differs = 0, worse = 0;
    @name@_start(&controller, acted[0]);
    for (int k = 0; k < {STEPS}; k++) {{
        real_t wanted[@NAME@_HORIZON * @NAME@_MODEL_OUTPUTS], ahead[@NAME@_HORIZON * (@NAME@_MEASURED + 1)];
        for (int i = 0; i < @NAME@_HORIZON * @NAME@_MODEL_OUTPUTS; i++)
            wanted[i] = reference[k][i % @NAME@_MODEL_OUTPUTS];
        for (int h = 0; h < @NAME@_HORIZON; h++)
            for (int j = 0; j < @NAME@_MEASURED; j++)
                ahead[h * @NAME@_MEASURED + j] = forecast[k][j];
        @name@_step(&controller, measured[k], wanted, acted[k], ahead);
        for (int i = 0; i < 2 * @NAME@_MODEL_CARRIED; i++) {{
            const real_t *found = i % 2 ? controller.disturbance : controller.carried;
            const real_t difference = fabs(found[i / 2] - estimate_expected[k][i % 2][i / 2]);
            if (!(difference <= differs)) /* nan counts as larger */
                differs = difference;
        }}
        const real_t above = (controller.cost - cost_expected[k]) / (cost_expected[k] + {number(smallest)});
        if (!(above <= worse))
            worse = above;
    }}
    printf("estimate   largest difference %.1e %s\\n", differs, differs <= TOLERANCE ? "ok" : "TOO LARGE");
    printf("plan       largest cost above Python's %.1e %s\\n", worse, worse <= {number(WORSE)} ? "ok" : "TOO LARGE");
    return !(differs <= TOLERANCE) + !(worse <= {number(WORSE)});
}}
"""
