"""Model predictive control of a surface vehicle with a sifted Koopman model.

The vehicle's surge and yaw rate follow a reference; thrust is bounded. The lifted model is linear, so each step is one
bounded least-squares problem, whose size does not depend on the number of observables. Run: python examples/mpc.py
"""

import numpy as np
from scipy.optimize import lsq_linear

from koopsieve import Monomials, States, Trajectories, sift
from koopsieve.evaluate import add_noise
from koopsieve.systems import HERON_QUADRATIC, random_thrust, surface_vehicle

DT, THRUST, HORIZON = 0.1, 20.0, 15
TRACKED = [0, 2]  # surge and yaw rate; with two thrusters the sway follows


def vehicle(thrust, initial=(0.0, 0.0, 0.0)):
    return surface_vehicle(thrust, DT, vehicle=HERON_QUADRATIC, initial=initial)


def identify(block, seed=0):
    """Sift and fit on 200 s of random thrust, measured at 30 dB."""
    thrust = random_thrust(2000, hold=8, seed=seed)
    clean = Trajectories.from_arrays(vehicle(thrust), thrust, dt=DT, state_names=["surge", "sway", "yaw"])
    data = add_noise(clean, 30.0, np.random.default_rng(seed))
    return sift(data, block, horizons=[1, 5, HORIZON], seed=seed)


def control(model, reference, effort=1e-4):
    """Follow `reference` (steps, 2); return the states the vehicle really went through, and the thrust."""
    F, G = model.prediction_matrices(HORIZON)
    rows = np.ravel([3 * h + np.array(TRACKED) for h in range(HORIZON)])
    F, G = F[rows], np.vstack([G[rows], effort * np.eye(G.shape[1])])
    states, thrusts = [np.zeros(3)], []
    for k in range(len(reference) - HORIZON):
        wanted = reference[k + 1 : k + 1 + HORIZON].ravel() - F @ model.dictionary(states[-1])
        plan = lsq_linear(G, np.concatenate([wanted, np.zeros(G.shape[1])]), bounds=(-THRUST, THRUST)).x
        thrusts.append(plan[:2])
        states.append(vehicle(plan[None, :2], initial=states[-1])[-1])
    return np.array(states), np.array(thrusts)


def main():
    time = np.arange(300) * DT
    reference = np.column_stack([0.8 + 0.3 * np.sign(np.sin(0.5 * time)), 0.6 * np.sin(0.8 * time)])
    result = identify(States() + Monomials(degree=3))
    states, thrusts = control(result.model, reference)
    followed = reference[: len(states)]
    error = np.sqrt(np.mean((states[20:, TRACKED] - followed[20:]) ** 2, axis=0))
    print(result.describe())
    print(", ".join(result.retained_names))
    print(f"tracking error (rms): surge {error[0]:.3f} m/s, yaw rate {error[1]:.3f} rad/s")
    print(f"thrust within ±{THRUST:g} N: {bool(np.abs(thrusts).max() <= THRUST + 1e-9)}")
    return error, thrusts


if __name__ == "__main__":
    main()
