"""Angles: a driven pendulum that turns over. Sines and cosines of the angle say what products cannot.

The angle is not wrapped: it counts full turns, so that there are no jumps in the record.
Run: python examples/angles.py [figure.png]
"""

import math
import sys

import numpy as np

from koopsieve import Constant, Fourier, Inputs, Monomials, States, Trajectories, sift
from koopsieve.plots import plot_simulation, save_figure
from koopsieve.systems.differential_equations import integrate

ONE_TURN = 1 / (2 * np.pi)  # cycles per radian


def pendulum(state, torque):
    """Change of angle and speed: θ̈ = u − 0.3θ̇ − 4·sin θ."""
    angle, speed = state
    return speed, torque[0] - 0.3 * speed - 4.0 * math.sin(angle)


def record(samples, seed):
    """Angle and speed every 0.05 s under random torque, with noise."""
    rng = np.random.default_rng(seed)
    torque = np.repeat(rng.uniform(-5, 5, size=-(-samples // 10)), 10)[:samples, None]
    clean = integrate(pendulum, (0.0, 0.0), torque, dt=0.05, max_step=0.01)
    noisy = clean + rng.normal(size=clean.shape) * [0.005, 0.02]
    return Trajectories.from_arrays(noisy, torque, dt=0.05, state_names=["angle", "speed"], input_names="torque")


def main(samples=1500, figure=None):
    """Return the results with products and with waves."""
    basis = States() + Constant() + Inputs()
    recipes = {"products": basis + Monomials(degree=3), "waves": basis + Fourier(frequencies=[ONE_TURN])}
    train, test = record(samples, 1), record(600, 2)
    found = {}
    for name, recipe in recipes.items():
        found[name] = sift(train, recipe, form="reprojected", horizons=[1, 10, 50], test=test)
        print(f"{name}:", found[name].describe())
    print("kept:", ", ".join(found["waves"].retained_names))
    if figure is not None:
        save_figure(plot_simulation(found["waves"], output="angle"), figure)
    return found


if __name__ == "__main__":
    main(figure=sys.argv[1] if len(sys.argv) > 1 else None)
