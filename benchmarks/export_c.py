"""How long a step of an exported model takes, how many bytes it needs, and how long it takes to write and to compile.

    python -m benchmarks.export_c [TERMS ...]

Models with 30 terms, or as many as are asked for, in each form, of monomials and of kernels, compiled with
`cc -std=c99 -O2`: seconds to write and to compile the model; microseconds for one step, for a linearisation and for
lifting; bytes of code and of constant data in the object file.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from koopsieve import (
    BilinearModel,
    Constant,
    Inputs,
    LinearModel,
    Monomials,
    ReprojectedModel,
    SquaredExponential,
    States,
    Trajectories,
)

TERMS = 30
NUMBERS = 20_000_000  # that all calls of one function work through, about
PROGRAM = """#include <stdio.h>
#include <time.h>
#include "model.h"

static double state[MODEL_STATES], carried[2][MODEL_CARRIED], input[MODEL_INPUTS], observables[MODEL_OBSERVABLES + 1];
static double a[MODEL_CARRIED * MODEL_CARRIED], b[MODEL_CARRIED * MODEL_INPUTS], offset[MODEL_CARRIED];

#define TIMED(call) do { \\
    const clock_t begun = clock(); \\
    for (int i = 0; i < CALLS; i++) { call; state[0] = 0.1 + 1e-7 * (i % 100); } \\
    printf("%.4f ", 1e6 * (double)(clock() - begun) / CLOCKS_PER_SEC / CALLS); \\
} while (0)

int main(void)
{
    for (int i = 0; i < MODEL_STATES; i++)
        state[i] = 0.1 * (i + 1);
    for (int i = 0; i < MODEL_INPUTS; i++)
        input[i] = 0.2;
    model_start(state, carried[0]);
    TIMED(model_step(carried[0], input, carried[1]));
    TIMED(model_linearise(carried[0], input, a, b, offset));
    TIMED(model_lift(state, observables));
    return 0;
}
"""


def models(terms):
    """Yield a name and a model with this many terms, its coefficients drawn at random."""
    rng = np.random.default_rng(0)
    data = Trajectories.from_arrays(rng.normal(size=(400, 3)), rng.normal(size=(399, 2)), dt=0.1)
    points = np.concatenate(list(data.acted_blocks()))
    recipes = {"monomials": Monomials(degree=4 if terms <= 30 else 11), "kernels": SquaredExponential(terms)}
    for kind, block in recipes.items():
        phi = (States() + Constant() + block).fit(data)
        phi = phi.select(np.arange(terms))
        for form, model in (("linear", LinearModel), ("bilinear", BilinearModel)):
            seen = phi.bilinear() if form == "bilinear" else phi
            coef = 0.01 * rng.normal(size=(len(seen.regressors), terms))
            estimate = SimpleNamespace(coef=coef, noise_precision=np.ones(terms), regressors=seen.regressors)
            yield f"{form}, {kind}", model.from_estimate(estimate, phi)
        driven = {"monomials": Monomials(degree=3 if terms <= 30 else 9, of="states and inputs")}.get(
            kind, block
        ) + Inputs()
        wide = (States() + Constant() + driven).fit(data)
        input_terms = np.arange(len(wide.input_term_names))[: terms // 2]
        cut = wide.select(np.arange(terms - len(input_terms)), input_terms)
        coef = 0.1 * rng.normal(size=(len(cut.regressors), 3))
        yield f"reprojected, {kind}", ReprojectedModel(coef, cut, np.stack([points.min(axis=0), points.max(axis=0)]))


def measure(model, folder):
    """Return seconds to write and to compile, microseconds of step, linearise and lift, and bytes of code and data."""
    folder = Path(folder)
    begun = time.perf_counter()
    model.to_c(folder)
    written = time.perf_counter() - begun
    (folder / "timing.c").write_text(PROGRAM)
    calls = max(100, NUMBERS // len(model.dictionary.regressors) ** 2)
    compiler = ["cc", "-std=c99", "-O2", f"-DCALLS={calls}"]
    begun = time.perf_counter()
    subprocess.run([*compiler, "-c", "model.c"], cwd=folder, check=True)
    compiled = time.perf_counter() - begun
    subprocess.run([*compiler, "-o", "timing", "timing.c", "model.o", "-lm"], cwd=folder, check=True)
    timed = subprocess.run(["./timing"], cwd=folder, check=True, capture_output=True, text=True).stdout
    sizes = subprocess.run(["size", "-A", "model.o"], cwd=folder, check=True, capture_output=True, text=True).stdout
    sections = {line.split()[0]: int(line.split()[1]) for line in sizes.splitlines() if line.startswith(".")}
    code = sum(size for name, size in sections.items() if name.startswith(".text"))
    data = sum(size for name, size in sections.items() if name.startswith((".rodata", ".data")))
    return written, compiled, *map(float, timed.split()), code, data


def main():
    if not (shutil.which("cc") and shutil.which("size")):
        sys.exit("This needs a C compiler (cc) and size.")
    print("| form | terms | write, s | compile, s | step, µs | linearise, µs | lift, µs | code, bytes | data, bytes |")
    print("|---|---|---|---|---|---|---|---|---|")
    for terms in [int(argument) for argument in sys.argv[1:]] or [TERMS]:
        for name, model in models(terms):
            with tempfile.TemporaryDirectory() as folder:
                *times, code, data = measure(model, folder)
            print(f"| {name} | {terms} | {' | '.join(f'{one:.2f}' for one in times)} | {code} | {data} |", flush=True)


if __name__ == "__main__":
    main()
