"""What comes with a model in C to check it: test vectors of points and the model's answers, a program, a Makefile."""

from __future__ import annotations

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.export.c.header import Sizes
from koopsieve.export.c.literals import number, table
from koopsieve.forms import Model
from koopsieve.uncertainty.support import widened

POINTS, RUN = 5, 10  # points that are compared, and steps of a free run


Expected = tuple[FloatArray, float]  # values to be met, and the largest sum behind them: rounding is a share of it


def vectors_of(model: Model) -> tuple[dict[str, FloatArray], dict[str, Expected]]:
    """Return random points where the model's functions are not all zero, a record, and the model's answers.

    The points are `states` and `inputs`, the first rows of the record `outputs`, its inputs `record`. Answers are the
    observables, what is carried next, A, B and offset one after the other per point, and the outputs of the record.
    """
    region = model.working_range()
    low, high = widened(region, 0.2 * np.ptp(region, axis=0))
    n, history = len(model.signals.state_names), model.signals.embedding.history
    rng, width = np.random.default_rng(0), len(model.signals.outputs)
    points = rng.uniform(low, high, size=(POINTS, len(low)))
    states, inputs = points[:, :n], points[:, n:]
    outputs = rng.uniform(low[:width], high[:width], size=(history, width))
    record = rng.uniform(low[n:], high[n:], size=(history + RUN, len(low) - n))
    carried, lifted = model.start(states), model.dictionary(states)
    answers = {
        "lift": (lifted, _largest(lifted)),
        "step": (model.advance(carried, inputs), step_size(model, carried, inputs)),
        "linearise": _linearised(model, carried, inputs),
        "simulate": _run(model, outputs, record),
    }
    return {"states": states, "inputs": inputs, "outputs": outputs, "record": record}, answers


def _run(model: Model, outputs: FloatArray, inputs: FloatArray) -> Expected:
    """Return a free run, and the largest sum in it."""
    embedding = model.signals.embedding
    padded = np.vstack([outputs, np.zeros((embedding.input_lead, outputs.shape[1]))])  # embed drops it again
    state = embedding.embed(padded, inputs[: len(padded) - 1])[0][0]
    carried, found, largest = model.start(state[None]), [], 0.0
    for k in range(RUN):
        u = inputs[None, embedding.history - 1 + embedding.input_lead + k]
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
    return flat, max(largest, step_size(model, carried, inputs))


def _largest(values: FloatArray) -> float:
    return float(np.abs(values).max(initial=0.0))


TOLERANCE = 1e-12  # of the largest sum behind a value
SINGLE_TOLERANCE = 1e-4  # the same in single precision, over free runs too


def checking_program(model: Model, sizes: Sizes, name: str) -> str:
    """Return a program that says how far the compiled model is from Python, and fails if it is too far."""
    linear = sizes.carried * (sizes.carried + sizes.inputs + 1)
    given, answers = vectors_of(model)
    tables = given | {f"{what}_expected": values for what, (values, _) in answers.items()}
    found = dict(zip(answers, ("lifted", "next", "linearised", "simulated"), strict=True))
    checks = "".join(
        f'    failures += check("{what}", {found[what]}, {what}_expected, {values.size}, {number(size)});\n'
        for what, (values, size) in answers.items()
    )
    return f"""/* Compares {name}.c with what Python computed. Written by koopsieve. */
#include <math.h>
#include <stdio.h>

#include "{name}.h"

#ifdef KOOPSIEVE_FLOAT32
#define TOLERANCE {number(SINGLE_TOLERANCE)}
#else
#define TOLERANCE {number(TOLERANCE)}
#endif

{"".join(_flat(what, values) for what, values in tables.items())}
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
    {name}_simulate(outputs, record, {len(given["record"])}, simulated);
{checks}    return failures;
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


def _flat(name: str, values: FloatArray) -> str:
    """Return a table of one dimension, of at least one number: C has no empty ones."""
    flat = values.ravel()
    return table(name, flat) if flat.size else f"static const real_t {name}[1] = {{0.0}};\n"
