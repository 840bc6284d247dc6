"""Many vehicles: one log per vehicle, and one model of them all, which is judged on vehicles that it never saw.

Each vehicle carries a load of its own, five per cent of its mass more or less. Logs are CSV
files; each is an episode, and nothing is learned across the end of one.
Run: python examples/many_vehicles.py [figure.png]
"""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from koopsieve import Constant, Inputs, Monomials, States, Trajectories, horizon_nmse, sift
from koopsieve.plots import new_axes, save_figure
from koopsieve.plots.figure import log_axis, style_of
from koopsieve.systems import HERON_QUADRATIC, random_thrust, surface_vehicle

STATES, INPUTS = ["surge", "sway", "yaw"], ["left", "right"]


def write_log(path, samples, seed):
    """Write the log of one vehicle."""
    rng = np.random.default_rng(seed)
    load = 1 + 0.05 * rng.normal()
    vehicle = replace(HERON_QUADRATIC, mass=tuple(load * mass for mass in HERON_QUADRATIC.mass))
    thrust = random_thrust(samples, 10, seed)
    motion = surface_vehicle(thrust, vehicle=vehicle)[:-1]
    motion = motion + 0.01 * motion.std(axis=0) * rng.normal(size=motion.shape)
    rows = np.column_stack([0.1 * np.arange(samples), motion, thrust])
    np.savetxt(path, rows, delimiter=",", header=",".join(["t", *STATES, *INPUTS]), comments="", fmt="%.6g")


def main(vehicles=12, samples=400, figure=None):
    """Return the result, and the error of both models on every vehicle that was not learned from."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"vehicle-{i:02d}.csv" for i in range(vehicles)]
        for seed, path in enumerate(files):
            write_log(path, samples, seed)
        half = vehicles // 2
        train, test = (
            Trajectories.from_file(part, states=STATES, inputs=INPUTS, time="t")
            for part in (files[:half], files[half:])
        )
    recipe = States() + Constant() + Inputs() + Monomials(degree=2)
    result = sift(train, recipe, horizons=[1, 10, 50], test=test)
    print(result.describe())
    models = {"sifted": result.model, "linear": result.baselines["linear"].model}
    errors = {name: [error(model, test, i) for i in range(test.n_episodes)] for name, model in models.items()}
    if figure is not None:
        draw(errors, figure)
    return result, errors


def error(model, test, episode):
    """Return the NMSE on one vehicle 50 steps ahead, mean of the three speeds."""
    names = {"state_names": STATES, "input_names": INPUTS}
    one = Trajectories.from_arrays(test.states[episode], test.inputs[episode], dt=test.dt, **names)
    return float(np.mean([values[0] for values in horizon_nmse(model, one, [50]).values()]))


def draw(errors, path):
    """Draw the error on every vehicle."""
    axes = new_axes(6.5, 3.2)
    for name, values in errors.items():
        look = {**style_of(name), "linestyle": "none"}
        axes.plot(range(1, len(values) + 1), values, label=name, **look)
    axes.set(xlabel="vehicle that was not learned from", ylabel="NMSE 50 steps ahead")
    log_axis(axes, "y")
    axes.set_xticks(range(1, len(values) + 1))
    axes.grid(alpha=0.25)
    axes.legend(frameon=False)
    save_figure(axes, path)


if __name__ == "__main__":
    main(figure=sys.argv[1] if len(sys.argv) > 1 else None)
