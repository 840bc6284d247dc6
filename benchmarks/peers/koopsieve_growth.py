# The default job on a network of coupled states: `koopsieve_growth.py FOLDER SAMPLES OBSERVABLES OUTPUTS HORIZON FORM`.
import sys
from pathlib import Path

import numpy as np
from shared import report

import koopsieve as ks

RUNS = 100  # episodes, simulated side by side
STREAMED = 1_000_000  # samples from which on the data stay on disk

folder, form = Path(sys.argv[1]), sys.argv[6]
samples, observables, outputs, horizon = map(int, sys.argv[2:6])


def network():
    """Simulate a ring: every state decays, is driven by its neighbour through a sine and by the input."""
    rng, steps = np.random.default_rng(0), samples // RUNS
    found = np.lib.format.open_memmap(folder / "states.npy", "w+", shape=(RUNS, steps, outputs))
    inputs = np.repeat(rng.uniform(-1, 1, size=(RUNS, -(-steps // 10), 1)), 10, axis=1)[:, :steps]
    x = rng.normal(size=(RUNS, outputs))
    for k in range(steps):
        found[:, k] = x
        x = 0.9 * x + 0.3 * np.sin(2 * np.roll(x, 1, axis=1)) + 0.3 * inputs[:, k] * (1 + np.cos(x))
    found += 0.01 * rng.normal(size=found.shape)
    return found, inputs


def data():
    states, inputs = network()
    episodes, acting = list(states), list(inputs[:, :-1])
    if samples < STREAMED:
        return ks.Trajectories.from_arrays([np.array(one) for one in episodes], acting, dt=0.1)
    return ks.Stream.from_arrays(episodes, acting, dt=0.1)


given = data()
centers = observables - outputs - 1
recipe = ks.States() + ks.Constant() + ks.SquaredExponential(centers=centers, standardize=True)
horizons = sorted({1, max(1, horizon // 5), horizon})
report(
    f"{samples} samples, {observables} observables, {outputs} outputs, horizon {horizon}, {form} form",
    lambda: ks.sift(given, recipe, form=form, horizons=horizons),
    kept=lambda result: len(result.retained_names),
    stages=lambda result: {name: round(value, 2) for name, value in result.seconds.items()},
)
