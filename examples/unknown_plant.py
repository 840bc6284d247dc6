"""An unknown plant: two tanks, one above the other, whose outflow is no polynomial. Kernels stand for the unknown.

The levels are measured with noise while a pump runs at random voltages; the upper tank can overflow.
Run: python examples/unknown_plant.py [figure.png]
"""

import sys

import numpy as np

from koopsieve import Constant, Inputs, SquaredExponential, States, Trajectories, sift
from koopsieve.plots import plot_simulation, save_figure
from koopsieve.systems import two_tanks


def record(samples, seed):
    """Levels in metres every 5 s, and the voltage of the pump."""
    rng = np.random.default_rng(seed)
    voltage = np.repeat(rng.uniform(1.5, 6.0, size=-(-samples // 20)), 20)[:samples, None]
    levels = two_tanks(voltage)
    noisy = levels + 0.002 * rng.normal(size=levels.shape)
    return Trajectories.from_arrays(noisy, voltage, dt=5.0, state_names=["upper", "lower"], input_names="voltage")


def main(samples=1500, centers=20, figure=None):
    """Return the result of the sieve."""
    kernels = SquaredExponential(centers=centers, coefficients=[0.3], standardize=True, of="states and inputs")
    recipe = States() + Constant() + Inputs() + kernels
    result = sift(record(samples, 1), recipe, form="reprojected", horizons=[1, 10, 50], test=record(800, 2))
    print(result.describe())
    if figure is not None:
        save_figure(plot_simulation(result, output="lower"), figure)
    return result


if __name__ == "__main__":
    main(figure=sys.argv[1] if len(sys.argv) > 1 else None)
