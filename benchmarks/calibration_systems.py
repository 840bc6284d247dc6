"""The systems of the calibration benchmark: data to learn and calibrate on, test data of the same or another kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from systems import lotka_volterra, pendulum, rossler

from koopsieve import Constant, Embedding, SquaredExponential, States, Trajectories
from koopsieve.dictionary import Block
from koopsieve.evaluate import add_noise
from koopsieve.systems import duffing, lorenz, random_drive, random_thrust, surface_vehicle, van_der_pol

SIMULATED = ("lorenz", "duffing", "van-der-pol", "surface-vehicle", "pendulum", "lotka-volterra", "rossler")
MEASURED = ("silverbox", "wiener-hammerstein", "cascaded-tanks")
HORIZONS = (1, 2, 5, 10, 20, 50, 100)
_FILES = {
    "silverbox": "silverbox.mat",
    "wiener-hammerstein": "wiener_hammerstein_process_noise.npz",
    "cascaded-tanks": "cascaded_tanks.mat",
}


@dataclass(frozen=True, eq=False)
class Problem:
    """Data to learn and calibrate on, and tests by name; the first is of the same kind."""

    train: Trajectories
    tests: dict[str, Trajectories]
    recipe: Block
    delays: Embedding
    horizons: tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """What it takes to make a problem: cheap to send to another process. Measured records have no noise level."""

    name: str
    snr_db: float | None
    seed: int
    samples: int
    data: Path

    def problem(self) -> Problem:
        """Return the problem: simulated, or read from the measured record."""
        if self.snr_db is None:
            return {"silverbox": _silverbox, "wiener-hammerstein": _circuit, "cascaded-tanks": _tanks}[self.name](
                self.data / _FILES[self.name]
            )
        rng = np.random.default_rng([self.seed, sum(map(ord, self.name)), int(self.snr_db)])
        clean = [_simulate(self.name, self.samples, rng) for _ in range(2)]
        inputs = [part.inputs[0] for part in clean] if clean[0].n_inputs else None
        both = Trajectories.from_arrays([part.states[0] for part in clean], inputs, dt=clean[0].dt)
        noisy = add_noise(both, self.snr_db, rng)  # one level for both: that of one sensor
        recipe = States() + Constant() + SquaredExponential(40, standardize=True)
        return Problem(noisy.subset([0]), {"test": noisy.subset([1])}, recipe, Embedding(), HORIZONS)


def cases(names: list[str], levels: list[float], seeds: list[int], samples: int, data: Path) -> Iterator[Case]:
    """Yield every case asked for; a measured record that is not there is told."""
    for name in names:
        if name in SIMULATED:
            yield from (Case(name, level, seed, samples, data) for level in levels for seed in seeds)
        elif (data / _FILES[name]).exists():
            yield Case(name, None, 0, samples, data)
        else:
            print(f"Skipped {name}: {_FILES[name]} is not in {data}. Give its folder with --data.\n")


def _simulate(name: str, samples: int, rng: np.random.Generator) -> Trajectories:
    if name == "lorenz":
        return Trajectories.from_arrays(lorenz(samples * 0.02, 0.02, seed=rng), dt=0.02)
    if name == "rossler":
        return Trajectories.from_arrays(rossler(samples * 0.1, 0.1, seed=rng), dt=0.1)
    if name == "surface-vehicle":
        thrust = random_thrust(samples, 10, rng)
        return Trajectories.from_arrays(surface_vehicle(thrust), thrust, dt=0.1)
    simulate, dt, amplitude = {
        "duffing": (duffing, 0.05, 1.0),
        "van-der-pol": (van_der_pol, 0.05, 1.0),
        "pendulum": (pendulum, 0.05, 1.2),
        "lotka-volterra": (lotka_volterra, 0.1, 0.3),
    }[name]
    drive = random_drive(samples, 20, amplitude, rng)
    return Trajectories.from_arrays(simulate(drive, dt), drive, dt=dt)


def _silverbox(path: Path) -> Problem:
    from scipy.io import loadmat

    record = loadmat(path)
    u, y = record["V1"].reshape(-1, 1), record["V2"].reshape(-1, 1)

    def part(start: int, stop: int) -> Trajectories:
        return Trajectories.from_arrays(y[start:stop], u[start:stop], dt=1 / 610.35, state_names="y", input_names="u")

    cut = 40650 + (127400 - 40650) * 3 // 4
    tests = {"test": part(cut, 127400), "arrow": part(100, 40575), "arrow, last 4000": part(36575, 40575)}
    recipe = States() + Constant() + SquaredExponential(40, standardize=True)
    return Problem(part(40650, cut), tests, recipe, Embedding(3, 3, "k+1"), HORIZONS)


def _circuit(path: Path) -> Problem:
    with np.load(path) as records:
        known = {key: np.asarray(records[key], dtype=float) for key in ("u_est", "y_est", "u_test", "y_test")}
        rate = float(records["fs"])

    def part(y: np.ndarray, u: np.ndarray) -> Trajectories:
        columns = ([one[:, None] for one in rows] for rows in (y, u))
        return Trajectories.from_arrays(*columns, dt=1 / rate, state_names="y", input_names="u")

    tests = {
        "test": part(known["y_est"][[3, 7]], known["u_est"][[3, 7]]),
        "multisine without process noise": part(known["y_test"][:1], known["u_test"][:1]),
        "swept sine without process noise": part(known["y_test"][1:], known["u_test"][1:]),
    }
    rest = [0, 1, 2, 4, 5, 6, 8, 9]
    recipe = States() + Constant() + SquaredExponential(40, standardize=True)
    return Problem(part(known["y_est"][rest], known["u_est"][rest]), tests, recipe, Embedding(12, 12), HORIZONS)


def _tanks(path: Path) -> Problem:
    from scipy.io import loadmat

    record = loadmat(path)

    def part(which: str) -> Trajectories:
        y, u = (record[name + which].reshape(-1, 1) for name in "yu")
        return Trajectories.from_arrays(y, u, dt=4.0, state_names="y", input_names="u")

    recipe = States() + Constant() + SquaredExponential(20, standardize=True)
    return Problem(part("Est"), {"test": part("Val")}, recipe, Embedding(3, 3), HORIZONS[:-1])
