"""A controller and its state estimate as C99: one header, one source file, the model's files, a test and a Makefile.

Comes in: a control law with a model that carries its observables. Goes out: a folder that a C compiler takes. The code
is the `.c` files beside this one; what is written here are its tables and sizes.
The test compares the controller with Python in a short closed loop around the model itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._exchange import write_files
from koopsieve._types import FloatArray, KoopsieveError, whole_number
from koopsieve.control.kalman import START_DRIFTS, KalmanFilter
from koopsieve.control.planner import MIN_FIRST_ITERATIONS
from koopsieve.control.state_estimate import (
    MAX_REJECTED,
    PRIOR_SAMPLES,
    SPREAD_MEMORY,
    Filtered,
    FromHistory,
    data_widths,
)
from koopsieve.export.c import c_files
from koopsieve.export.c.checks import makefile
from koopsieve.export.c.header import places
from koopsieve.export.c.literals import comment, identifier, index_table, number, table

if TYPE_CHECKING:
    from koopsieve.control.controller import ControlLaw


INFINITE = 1e30  # no limit; a float holds it too
SOURCES = ("head.c", "innovations.c", "{estimator}.c", "cost.c", "programme.c", "plan.c")


def to_c(
    law: ControlLaw, acting: ArrayLike, folder: str | os.PathLike[str], name: str, rounds: int
) -> tuple[Path, ...]:
    """Write the files into a folder, which is made if it is not there; see `Controller.to_c`."""
    model = law.problem.model
    if not model.carries_observables:
        raise KoopsieveError(
            "A controller in C needs a model that carries its observables, linear or bilinear. Got a "
            f'{model.form} one. Use sift(…, form="bilinear"), or model.to_c() and a controller of your own around it.'
        )
    whole_number("rounds, those of the solver,", rounds, 1)
    plain = identifier(name)
    estimator = "kalman" if isinstance(law.estimator, Filtered) else "history"
    code = "\n".join(_read(one.format(estimator=estimator)) for one in SOURCES).replace(
        "@tables@", _tables(law, rounds)
    )
    own = {".h": _header(law), ".c": code, "_test.c": checking_program(closed_loop_vectors(law, acting))}
    named = {plain + end: text.replace("@name@", plain).replace("@NAME@", plain.upper()) for end, text in own.items()}
    exported = c_files(model, f"{plain}_model", filtered=True)
    found = {**named, **exported, "Makefile": makefile(f"{plain}_model", plain)}
    return write_files(folder, {file: text.encode("ascii") for file, text in found.items()})


def _read(file: str) -> str:
    return files(__package__).joinpath(file).read_text(encoding="ascii")


def _header(law: ControlLaw) -> str:
    problem = law.problem
    signals, cost = problem.model.signals, problem.cost
    H, M = problem.horizon, len(problem.moved)
    rows = H * M * (1 + cost.rate_limited) + len(cost.limited)
    sizes = {"HORIZON": H, "MOVED": M, "MEASURED": len(problem.pinned), "CHANGES": H * M, "ROWS": rows}
    defined = "".join(f"#define @NAME@_{key} {value}\n" for key, value in sizes.items())
    defined += places("@NAME@", "MOVED", problem.moved_names)
    defined += places("@NAME@", "MEASURED", problem.measured_inputs)
    text = _read("controller.h").replace("@sizes@", defined).replace("@outputs@", comment(", ".join(signals.outputs)))
    return text.replace("@filter@", "1" if isinstance(law.estimator, Filtered) else "0")


def _tables(law: ControlLaw, rounds: int) -> str:
    problem, cost = law.problem, law.problem.cost
    moved = problem.moved
    sizes: dict[str, Any] = {
        "RATES": int(cost.rate_limited),
        "LIMITED": len(cost.limited),
        "PINNED": len(problem.pinned),
        "EXACT": int(problem.model.step_is_linear),
        "ITERATIONS": law.iterations,
        "FIRST_ITERATIONS": max(law.iterations, MIN_FIRST_ITERATIONS),
        "SOLVER_ROUNDS": rounds,
        "MAX_REJECTED": MAX_REJECTED,
        "SPREAD_MEMORY": SPREAD_MEMORY,
        "PRIOR_SAMPLES": PRIOR_SAMPLES,
    }
    arrays: dict[str, FloatArray] = {
        "output_weight": cost.Q,
        "rate_weight": cost.S[np.ix_(moved, moved)],
        "input_weight": cost.R[np.ix_(moved, moved)],
        "low": cost.low[:, moved],
        "high": cost.high[:, moved],
        "reading": problem.model.read(np.eye(len(problem.model.carried_names))).T,
        "data_width": data_widths(problem.model),
    }
    indices = {"moved": moved}
    if cost.rate_limited:
        down, up = cost.rate_bounds
        arrays |= {"rate": cost.rates[moved], "rate_low": down[:, moved], "rate_high": up[:, moved]}
    if len(cost.limited):
        arrays |= {"output_low": cost.output_low, "output_high": cost.output_high, "price": cost.price}
        indices["limited"] = cost.limited
    if len(problem.pinned):
        indices["pinned"] = problem.pinned
    if isinstance(law.estimator, Filtered):
        more = _filter_tables(law.estimator.kalman)
        sizes |= more[0]
        arrays |= more[1]
        indices |= more[2]
    elif isinstance(law.estimator, FromHistory):
        noise = problem.model.noise
        known = None if noise is None else noise.one_step
        sizes |= {"KNOWN_NOISE": int(known is not None), **_gains(law.estimator.gate, GAIN=law.estimator.gain)}
        arrays["one_step_variance"] = np.ones(len(cost.Q)) if known is None else known
    return "".join(
        [
            *(f"#define {key} {value}\n" for key, value in sizes.items()),
            *(index_table(key, value) for key, value in indices.items()),
            *(table(key, np.clip(value, -INFINITE, INFINITE)) for key, value in arrays.items()),
        ]
    )


def _gains(gate: float, **others: float) -> Mapping[str, str]:
    return {key: f"((real_t){number(min(value, INFINITE))})" for key, value in {"GATE": gate, **others}.items()}


def _filter_tables(kalman: KalmanFilter) -> tuple[dict[str, Any], dict[str, FloatArray], dict[str, Any]]:
    model, noise = kalman.model, kalman.noise
    sizes = {"KNOWN_NOISE": 1, "RELIFTED": int(kalman.relifts), "START_DRIFTS": START_DRIFTS, **_gains(kalman.gate)}
    arrays = {
        "process_variance": noise.process,
        "measurement_variance": noise.measurement,
        "drift_variance": kalman.drifts,
        "state_variance": kalman.state_variance,
    }
    if kalman.relifts:
        return sizes, arrays, {"place": model.dictionary.state_positions}
    anywhere = np.zeros((1, len(model.signals.state_names)))
    return sizes, {**arrays, "entering": kalman.entering(model.start_slopes(anywhere)[0])}, {}


STEPS, HOLD = 12, 6  # of the closed loop, and steps for which a reference stays
NOISE_SHARE = 0.003  # of the working range, added to every output
MAX_EXCESS = 0.02  # share of the cost by which a plan in C may be above that of Python
TOLERANCE, SINGLE_TOLERANCE = 1e-9, 2e-3  # of the largest number that the estimate holds


def closed_loop_vectors(law: ControlLaw, acting: ArrayLike) -> dict[str, FloatArray]:
    """Run the law around its own model, with a little noise; return what it was given and made of it, a row per step.

    `acted` are the inputs before each step; `estimate_expected` what the model carries, and the disturbance.
    """
    problem, rng = law.problem, np.random.default_rng(0)
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
    names = ("measured", "reference", "forecast", "acted", "estimate_expected", "cost_expected")
    return {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def checking_program(found: dict[str, FloatArray]) -> str:
    """Return the program; it fails where estimates differ, or a plan costs more than that of Python."""
    size = max(float(np.abs(found[name]).max()) for name in ("estimate_expected", "measured"))
    smallest, most = 1e-9 * float(found["cost_expected"].max()), number(MAX_EXCESS)
    tables = "".join(table(name, one if one.size else np.zeros((STEPS, 1))) for name, one in found.items())
    return f"""/* Compares @name@.c with what Python computed in a short closed loop. Written by koopsieve. */
#include <math.h>
#include <stdio.h>

#include "@name@.h"

#ifdef KOOPSIEVE_FLOAT32
#define TOLERANCE {number(SINGLE_TOLERANCE * size)}
#else
#define TOLERANCE {number(TOLERANCE * size)}
#endif

{tables}
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
    printf("plan       largest cost above Python's %.1e %s\\n", worse, worse <= {most} ? "ok" : "TOO LARGE");
    return !(differs <= TOLERANCE) + !(worse <= {most});
}}
"""
