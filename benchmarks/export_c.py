"""How long a step of an exported model takes, and how many bytes it needs.

    python -m benchmarks.export_c

Models with 30 terms, in each form, of monomials and of kernels, compiled with `cc -std=c99 -O2`: microseconds for one
step, for a linearisation and for lifting, and the bytes of code and of constant data in the object file.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from koopsieve import (
    BilinearModel,
    Constant,
    Inputs,
    LiftedModel,
    Monomials,
    ReprojectedModel,
    SquaredExponential,
    States,
    Trajectories,
)

TERMS = 30
CALLS = 200_000
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


def models(terms=TERMS):
    """Yield a name and a model with so many terms, its coefficients drawn at random."""
    rng = np.random.default_rng(0)
    data = Trajectories.from_arrays(rng.normal(size=(400, 3)), rng.normal(size=(399, 2)), dt=0.1)
    points = np.concatenate(list(data.acted_blocks()))
    recipes = {"monomials": Monomials(degree=4), "kernels": SquaredExponential(terms)}
    for kind, block in recipes.items():
        phi = (States() + Constant() + block).fit(data)
        phi = phi.select(np.arange(terms))
        for form, model in (("linear", LiftedModel), ("bilinear", BilinearModel)):
            seen = phi.bilinear() if form == "bilinear" else phi
            coef = 0.01 * rng.normal(size=(len(seen.regressors), terms))
            estimate = SimpleNamespace(coef=coef, noise_precision=np.ones(terms), regressors=seen.regressors)
            yield f"{form}, {kind}", model.from_estimate(estimate, phi)
        driven = {"monomials": Monomials(degree=3, of="states and inputs")}.get(kind, block) + Inputs()
        wide = (States() + Constant() + driven).fit(data)
        drives = np.arange(len(wide.drive_names))[: terms // 2]
        cut = wide.select(np.arange(terms - len(drives)), drives)
        coef = 0.1 * rng.normal(size=(len(cut.regressors), 3))
        yield f"reprojected, {kind}", ReprojectedModel(coef, cut, np.stack([points.min(axis=0), points.max(axis=0)]))


def measure(model, folder):
    """Return microseconds of step, linearise and lift, and bytes of code and data."""
    folder = Path(folder)
    model.to_c(folder)
    (folder / "timing.c").write_text(PROGRAM)
    compiler = ["cc", "-std=c99", "-O2", f"-DCALLS={CALLS}"]
    subprocess.run([*compiler, "-c", "model.c"], cwd=folder, check=True)
    subprocess.run([*compiler, "-o", "timing", "timing.c", "model.o", "-lm"], cwd=folder, check=True)
    timed = subprocess.run(["./timing"], cwd=folder, check=True, capture_output=True, text=True).stdout
    sizes = subprocess.run(["size", "-A", "model.o"], cwd=folder, check=True, capture_output=True, text=True).stdout
    sections = {line.split()[0]: int(line.split()[1]) for line in sizes.splitlines() if line.startswith(".")}
    code = sum(size for name, size in sections.items() if name.startswith(".text"))
    data = sum(size for name, size in sections.items() if name.startswith((".rodata", ".data")))
    return *map(float, timed.split()), code, data


def main():
    if not (shutil.which("cc") and shutil.which("size")):
        sys.exit("This needs a C compiler (cc) and size.")
    print(f"| {TERMS} terms | step, µs | linearise, µs | lift, µs | code, bytes | data, bytes |")
    print("|---|---|---|---|---|---|")
    for name, model in models():
        assert len(model.dictionary.regressors) in (TERMS, TERMS + 2)
        with tempfile.TemporaryDirectory() as folder:
            step, linearise, lift, code, data = measure(model, folder)
        print(f"| {name} | {step:.2f} | {linearise:.2f} | {lift:.2f} | {code} | {data} |")


if __name__ == "__main__":
    main()
