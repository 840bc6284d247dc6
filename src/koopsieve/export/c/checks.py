"""What comes with a model in C to check it: test vectors of points and the model's answers, a program, a Makefile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.export.c.header import Sizes
from koopsieve.export.c.literals import number, table
from koopsieve.forms import Model
from koopsieve.forms.reprojected.model import widened

POINTS, RUN = 5, 10  # points that are compared, and steps of a free run


@dataclass(frozen=True, eq=False)
class Expected:
    """Values to be met, and the size of the largest sum behind them, of which rounding is a fraction."""

    values: FloatArray
    size: float


@dataclass(frozen=True, eq=False)
class Vectors:
    """Points, a record, and the model's answers.

    Parameters
    ----------
    states, inputs : array, shape (points, n), (points, l)
    carried : array, shape (points, carried)
    outputs, record_inputs : array
        First rows of a record, and its inputs.
    lift, step, linearise, simulate : Expected
        Observables; what is carried next; A, B and offset one after the other per point; the outputs of the record.
    """

    states: FloatArray
    inputs: FloatArray
    carried: FloatArray
    outputs: FloatArray
    record_inputs: FloatArray
    lift: Expected
    step: Expected
    linearise: Expected
    simulate: Expected


def vectors_of(model: Model, seed: int = 0) -> Vectors:
    """Return the model's answers at random points where its functions are not all zero."""
    low, high = widened(model.working_range(), 0.2)
    n, embedding = len(model.signals.state_names), model.signals.embedding
    rng = np.random.default_rng(seed)
    points = rng.uniform(low, high, size=(POINTS, len(low)))
    states, inputs = points[:, :n], points[:, n:]
    width, history = len(model.signals.outputs), embedding.history
    outputs = rng.uniform(low[:width], high[:width], size=(history, width))
    record_inputs = rng.uniform(low[n:], high[n:], size=(history + RUN, len(low) - n))
    carried = model.start(states)
    lifted = model.dictionary(states)
    simulated, largest = _run(model, outputs, record_inputs)
    return Vectors(
        states, inputs, carried, outputs, record_inputs,
        lift=Expected(lifted, _largest(lifted)),
        step=Expected(model.advance(carried, inputs), step_size(model, carried, inputs)),
        linearise=_linearised(model, carried, inputs),
        simulate=Expected(simulated, largest),
    )  # fmt: skip


def _run(model: Model, outputs: FloatArray, inputs: FloatArray) -> tuple[FloatArray, float]:
    """Return a free run, and the largest sum in it."""
    embedding = model.signals.embedding
    padded = np.vstack([outputs, np.zeros((embedding.ahead, outputs.shape[1]))])  # embed drops it again
    state = embedding.embed(padded, inputs[: len(padded) - 1])[0][0]
    carried, found, largest = model.start(state[None]), [], 0.0
    for k in range(RUN):
        u = inputs[None, embedding.history - 1 + embedding.ahead + k]
        largest = max(largest, step_size(model, carried, u))
        carried = model.advance(carried, u)
        found.append(model.read(carried)[0])
    return np.array(found), largest


def step_size(model: Model, carried: FloatArray, inputs: FloatArray) -> float:
    """Return the largest sum of absolute values that a step adds up."""
    step, points = model.step_map(), np.hstack([carried, inputs])
    return max(_largest(np.abs(step.terms(points)) @ np.abs(step.weights).T), _largest(carried))


def _linearised(model: Model, carried: FloatArray, inputs: FloatArray) -> Expected:
    found, step, points = model.jacobians(carried, inputs), model.step_map(), np.hstack([carried, inputs])
    flat = np.hstack([found.A.reshape(POINTS, -1), found.B.reshape(POINTS, -1), found.offset])
    slopes = np.einsum("ptd,ct->pcd", np.abs(step.slopes(points)), np.abs(step.weights))
    largest = max(_largest(flat), _largest(slopes), _largest(slopes @ np.abs(points)[:, :, None]))
    return Expected(flat, max(largest, step_size(model, carried, inputs)))


def _largest(values: FloatArray) -> float:
    return float(np.abs(values).max(initial=0.0))


TOLERANCE = 1e-12  # of the largest sum behind a value
SINGLE_TOLERANCE = 1e-4  # the same in single precision, over free runs too


def checking_program(vectors: Vectors, sizes: Sizes, history: int, name: str) -> str:
    """Return a program that says how far the compiled model is from Python, and fails if it is too far."""
    linear = sizes.carried * (sizes.carried + sizes.inputs + 1)
    samples = history + RUN
    return f"""/* Compares {name}.c with what Python computed. Written by koopsieve. */
#include <math.h>
#include <stdio.h>

#include "{name}.h"

#ifdef KOOPSIEVE_FLOAT32
#define TOLERANCE {number(SINGLE_TOLERANCE)}
#else
#define TOLERANCE {number(TOLERANCE)}
#endif

{_tables(vectors)}
static int check(const char *what, const real_t *found, const real_t *expected, int count, real_t size)
{{
    real_t largest = 0.0;
    for (int i = 0; i < count; i++) {{
        const real_t difference = fabs(found[i] - expected[i]);
        if (!(difference <= largest)) /* nan counts as larger */
            largest = difference;
    }}
    const int good = largest <= TOLERANCE * size;
    printf("%-10s largest relative difference %.1e %s\\n", what, size > 0.0 ? largest / size : largest,
           good ? "ok" : "TOO LARGE");
    return good ? 0 : 1;
}}

int main(void)
{{
    static real_t lifted[{max(POINTS * sizes.observables, 1)}], next[{POINTS * sizes.carried}];
    static real_t linearised[{POINTS * linear}], simulated[{RUN * sizes.outputs}];
    int failures = 0;
    for (int i = 0; i < {POINTS}; i++) {{
        real_t carried[{sizes.carried}];
        real_t *matrices = linearised + i * {linear};
        {name}_lift(states + i * {sizes.states}, lifted + i * {sizes.observables});
        {name}_start(states + i * {sizes.states}, carried);
        {name}_step(carried, inputs + i * {sizes.inputs}, next + i * {sizes.carried});
        {name}_linearise(carried, inputs + i * {sizes.inputs}, matrices, matrices + {sizes.carried**2},
            matrices + {sizes.carried * (sizes.carried + sizes.inputs)});
    }}
    {name}_simulate(outputs, record, {samples}, simulated);
{_check("lift", "lifted", vectors.lift)}{_check("step", "next", vectors.step)}{
        _check("linearise", "linearised", vectors.linearise)
    }{_check("simulate", "simulated", vectors.simulate)}    return failures;
}}
"""


def makefile(name: str, controller: str | None = None) -> str:
    """Return a Makefile that compiles and runs the test program of a model, and that of a controller with it."""
    tests = {name: name} if controller is None else {name: name, controller: f"{controller} {name}"}
    rules = "".join(
        f"{one}_test: {one}_test.c {' '.join(f'{part}.c {part}.h' for part in parts.split())}\n"
        f"\t$(CC) $(CFLAGS) -o $@ {one}_test.c {' '.join(f'{part}.c' for part in parts.split())} -lm\n\n"
        for one, parts in tests.items()
    )
    programs = " ".join(f"{one}_test" for one in tests)
    runs = "".join(f"\t./{one}_test\n" for one in tests)
    return f"""# make: compile the code and compare it with what Python computed. Written by koopsieve.
CC ?= cc
CFLAGS ?= -std=c99 -O2 -Wall -Wextra -Werror -pedantic

.PHONY: test clean
test: {programs}
{runs}
{rules}clean:
\trm -f {programs}
"""


def _tables(vectors: Vectors) -> str:
    return "".join(
        [
            _flat("states", vectors.states),
            _flat("inputs", vectors.inputs),
            _flat("outputs", vectors.outputs),
            _flat("record", vectors.record_inputs),
            _flat("lift_expected", vectors.lift.values),
            _flat("step_expected", vectors.step.values),
            _flat("linearise_expected", vectors.linearise.values),
            _flat("simulate_expected", vectors.simulate.values),
        ]
    )


def _flat(name: str, values: FloatArray) -> str:
    """Return a table of one dimension, of at least one number: C has no empty ones."""
    flat = values.ravel()
    return table(name, flat) if flat.size else f"static const real_t {name}[1] = {{0.0}};\n"


def _check(what: str, found: str, expected: Expected) -> str:
    count = expected.values.size
    return f'    failures += check("{what}", {found}, {what}_expected, {count}, {number(expected.size)});\n'
