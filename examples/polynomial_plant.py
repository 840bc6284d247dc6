"""A polynomial plant: the three speeds of a vehicle on water, which act on each other by their products when it turns.

The speeds are measured, with noise, under random thrust of two propellers. Candidates are all products of two
speeds. What is kept can be read as equations.
Run: python examples/polynomial_plant.py [figure.png]
"""

import sys

import numpy as np

from koopsieve import Constant, Inputs, Monomials, States, Trajectories, sift
from koopsieve.plots import plot_simulation, save_figure
from koopsieve.systems import HERON, random_thrust, surface_vehicle


def record(samples, seed):
    """One run of the vehicle: surge, sway and yaw rate every 0.1 s."""
    thrust = random_thrust(samples, 10, seed)
    clean = surface_vehicle(thrust, vehicle=HERON)
    noisy = clean + 0.01 * clean.std(axis=0) * np.random.default_rng(seed).normal(size=clean.shape)
    names = {"state_names": ["surge", "sway", "yaw"], "input_names": ["left", "right"]}
    return Trajectories.from_arrays(noisy, thrust, dt=0.1, **names)


def main(samples=1500, figure=None):
    """Return the result of the sieve."""
    recipe = States() + Constant() + Inputs() + Monomials(degree=2)
    result = sift(record(samples, 1), recipe, form="reprojected", horizons=[1, 10, 50], test=record(600, 2))
    print(result.describe())
    coefficients = result.model.coef
    for column, output in enumerate(result.model.output_names):
        terms = zip(result.model.dictionary.regressors, coefficients[:, column], strict=True)
        print(f"{output}[k+1] =", " ".join(f"{value:+.4f} {name}" for name, value in terms if abs(value) > 1e-4))
    if figure is not None:
        save_figure(plot_simulation(result, output="sway", seconds=40), figure)
    return result


if __name__ == "__main__":
    main(figure=sys.argv[1] if len(sys.argv) > 1 else None)
