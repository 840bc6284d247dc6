"""A controller and its state estimate as C99: one header, one source file, the model's files, a test and a Makefile.

Comes in: a control law with a model that carries its observables. Goes out: a folder that a C compiler takes. The code
is the `.c` files beside this one; what is written here are its tables and sizes.
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
from koopsieve.control.c.closed_loop import checking_program, recorded
from koopsieve.control.innovations import MAX_REJECTED, PRIOR_SAMPLES, SPREAD_MEMORY
from koopsieve.control.kalman import START_DRIFTS, KalmanFilter
from koopsieve.control.planner import MIN_FIRST_ITERATIONS
from koopsieve.control.programme import Cost
from koopsieve.control.state_estimate import Filtered, FromHistory
from koopsieve.export.c import c_files
from koopsieve.export.c.literals import comment, identifier, identifiers, index_table, number, table
from koopsieve.export.c.program import makefile

if TYPE_CHECKING:
    from koopsieve.control.controller import ControlLaw

INFINITE = 1e30  # no limit; a float holds it too
SOURCES = ("head.c", "innovations.c", "{estimator}.c", "cost.c", "programme.c", "plan.c")


def controller_files(law: ControlLaw, acting: ArrayLike, name: str, rounds: int) -> dict[str, str]:
    """Return the text of every file, by its name; see `Controller.to_c`.

    Raises
    ------
    KoopsieveError
        If the model does not carry its observables, or holds a user's own code.
    """
    model = law.problem.model
    if not model.carries_observables:
        raise KoopsieveError(
            "A controller in C needs a model that carries its observables, linear or bilinear. Got a "
            f'{model.form} one. Use sift(…, form="bilinear"), or model.to_c() and a controller of your own around it.'
        )
    whole_number("rounds, those of the solver,", rounds, 1)
    plain = identifier(name)
    tables = _tables(law, rounds)
    estimator = "kalman" if isinstance(law.estimator, Filtered) else "history"
    code = "\n".join(_read(one.format(estimator=estimator)) for one in SOURCES).replace("@tables@", tables)
    exported = c_files(model, f"{plain}_model", filtered=True)
    return {
        f"{plain}.h": _named(_header(law), plain),
        f"{plain}.c": _named(code, plain),
        f"{plain}_test.c": _named(checking_program(recorded(law, acting)), plain),
        **{file: text for file, text in exported.items() if file != "Makefile"},
        "Makefile": makefile(f"{plain}_model", plain),
    }


def to_c(
    law: ControlLaw, acting: ArrayLike, folder: str | os.PathLike[str], name: str, rounds: int
) -> tuple[Path, ...]:
    """Write the files into a folder, which is made if it is not there; see `Controller.to_c`."""
    found = controller_files(law, acting, name, rounds)
    return write_files(folder, {file: text.encode("ascii") for file, text in found.items()})


def _read(file: str) -> str:
    return files(__package__).joinpath(file).read_text(encoding="ascii")


def _named(text: str, plain: str) -> str:
    return text.replace("@name@", plain).replace("@NAME@", plain.upper())


def _header(law: ControlLaw) -> str:
    problem = law.problem
    signals, cost = problem.model.signals, problem.cost
    H, M = problem.horizon, len(problem.moved)
    rows = H * M * (1 + cost.rate_limited) + len(cost.limited)
    sizes = {"HORIZON": H, "MOVED": M, "MEASURED": len(problem.pinned), "CHANGES": H * M, "ROWS": rows}
    defined = "".join(f"#define @NAME@_{key} {value}\n" for key, value in sizes.items())
    for kind, names in (("MOVED", problem.moved_names), ("MEASURED", problem.measured_inputs)):
        short = zip(identifiers(names), names, strict=True)
        defined += "".join(
            f"#define @NAME@_{kind}_{s.upper()} {i} /* {comment(f)} */\n" for i, (s, f) in enumerate(short)
        )
    text = _read("controller.h").replace("@sizes@", defined).replace("@outputs@", comment(", ".join(signals.outputs)))
    return text.replace("@filter@", "1" if isinstance(law.estimator, Filtered) else "0")


def _tables(law: ControlLaw, rounds: int) -> str:
    problem, cost = law.problem, law.problem.cost
    moved = problem.moved
    sizes: dict[str, Any] = {
        "RATES": int(cost.rate_limited),
        "LIMITED": len(cost.limited),
        "PINNED": len(problem.pinned),
        "EXACT": int(problem.same_at_every_step),
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
    }
    indices = {"moved": moved}
    if cost.rate_limited:
        arrays |= _rate_tables(cost, problem.moved)
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


def _rate_tables(cost: Cost, moved: np.ndarray[Any, Any]) -> dict[str, FloatArray]:
    """Return the largest changes, and between which values each lies: wider where limits of inputs move."""
    low, high, rates = cost.low[:, moved], cost.high[:, moved], np.minimum(cost.rates[moved], INFINITE)
    down, up = np.tile(-rates, (len(low), 1)), np.tile(rates, (len(low), 1))
    with np.errstate(invalid="ignore"):
        down[1:], up[1:] = np.fmin(down[1:], np.diff(high, axis=0)), np.fmax(up[1:], np.diff(low, axis=0))
    return {"rate": rates, "rate_low": down, "rate_high": up}


def _filter_tables(kalman: KalmanFilter) -> tuple[dict[str, Any], dict[str, FloatArray], dict[str, Any]]:
    model, noise = kalman.model, kalman.noise
    delays, embedding = len(model.signals.state_names), model.signals.embedding
    state = np.zeros(delays)
    state[: len(noise.measurement) * (embedding.state_delays + 1)] = np.tile(
        noise.measurement, embedding.state_delays + 1
    )
    sizes = {"KNOWN_NOISE": 1, "RELIFTED": int(kalman.relifts), "START_DRIFTS": START_DRIFTS, **_gains(kalman.gate)}
    arrays = {
        "process_variance": noise.process,
        "measurement_variance": noise.measurement,
        "drift_variance": kalman.drifts,
        "state_variance": state,
    }
    if kalman.relifts:
        return sizes, arrays, {"place": model.dictionary.state_positions}
    return sizes, {**arrays, "entering": kalman.entering(model.start_slopes(state[None])[0])}, {}
