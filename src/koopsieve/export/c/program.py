"""The test program and the Makefile that come with a model in C."""

from __future__ import annotations

from koopsieve._types import FloatArray
from koopsieve.export.c.header import Sizes
from koopsieve.export.c.literals import number, table
from koopsieve.export.c.vectors import POINTS, RUN, Expected, Vectors

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
