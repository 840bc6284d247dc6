"""The systems of the reduction benchmark: training, validation and test trajectories, candidates and horizons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from koopsieve import Constant, SquaredExponential, States, Trajectories, embed_delays
from koopsieve.dictionary import Block
from koopsieve.evaluate import add_noise
from koopsieve.systems import (
    duffing,
    lorenz,
    random_drive,
    random_thrust,
    surface_vehicle,
    van_der_pol,
)

WIENER_HAMMERSTEIN = "wiener_hammerstein_process_noise.npz"


@dataclass(frozen=True, eq=False)
class Problem:
    """One system at one noise level.

    `truth` is `test` without noise; predictions start from noisy states and are compared with it, as in the paper.
    `shown` are the horizons of the table, at which models are also judged and chosen.
    """

    name: str
    noise: str
    train: Trajectories
    validation: Trajectories
    test: Trajectories
    truth: Trajectories
    centers: int
    coefficients: tuple[float, ...]
    shown: tuple[int, int, int]
    sizes: tuple[int, ...]

    def recipe(self, centers: int | None = None, coefficients: tuple[float, ...] | None = None) -> Block:
        """Return the candidates: the states, a constant, and kernels."""
        kernels = SquaredExponential(
            self.centers if centers is None else centers, coefficients or self.coefficients, standardize=True
        )
        return States() + Constant() + kernels


@dataclass(frozen=True)
class Case:
    """What it takes to make a problem: cheap to send to another process."""

    name: str
    snr_db: float | None
    seed: int
    samples: int
    data: Path | None

    def problem(self) -> Problem:
        """Return the problem: simulated, or read from the measured record."""
        if self.snr_db is None:
            return _measured(self.data / WIENER_HAMMERSTEIN)
        return _simulated(self.name, self.snr_db, self.samples, self.seed)


def cases(
    names: list[str], noise_levels: list[float], data: Path | None, samples: int, seeds: list[int]
) -> Iterator[Case]:
    """Yield every system asked for at every noise level and seed; measured data have their own noise, and no seed."""
    for name in names:
        if name != "wiener-hammerstein":
            yield from (Case(name, level, seed, samples, data) for level in noise_levels for seed in seeds)
        elif data is None or not (data / WIENER_HAMMERSTEIN).exists():
            print(f"Skipped {name}: {WIENER_HAMMERSTEIN} is not there. Give its folder with --data.\n")
        else:
            yield Case(name, None, seeds[0], samples, data)


def _simulated(name: str, snr_db: float, samples: int, seed: int) -> Problem:
    rng = np.random.default_rng([seed, sum(map(ord, name)), int(snr_db)])
    clean = {part: _simulate(name, count, rng) for part, count in _parts(samples).items()}
    noisy = {part: add_noise(data, snr_db, rng) for part, data in clean.items()}
    centers, coefficients, shown, sizes = {
        "lorenz": (100, (0.3, 1.0, 3.0), (5, 10, 20), (20, 30, 50)),
        "duffing": (100, (0.3, 3.0), (1, 10, 30), (8, 16)),
        "van-der-pol": (100, (0.3, 3.0), (1, 10, 30), (8, 16)),
        "surface-vehicle": (100, (0.1, 1.0), (1, 5, 20), (8, 16)),
    }[name]
    return Problem(
        name,
        f"{snr_db:g} dB",
        noisy["train"],
        noisy["validation"],
        noisy["test"],
        clean["test"],
        centers,
        coefficients,
        shown,
        sizes,
    )


def _parts(samples: int) -> dict[str, int]:
    return {"train": samples, "validation": samples, "test": samples}


def _simulate(name: str, samples: int, rng: np.random.Generator) -> Trajectories:
    if name == "lorenz":
        return Trajectories.from_arrays(lorenz(samples * 0.01, 0.01, seed=rng), dt=0.01)
    if name == "surface-vehicle":
        thrust = random_thrust(samples, 10, rng)
        return Trajectories.from_arrays(surface_vehicle(thrust), thrust, dt=0.1)
    drive = random_drive(samples, 20, 1.0, rng)
    simulate = {"duffing": duffing, "van-der-pol": van_der_pol}[name]
    return Trajectories.from_arrays(simulate(drive, initial=rng.normal(size=2)), drive, dt=0.05)


def _measured(path: Path) -> Problem:
    with np.load(path) as records:
        u, y, u_test, y_test, rate = (records[key] for key in ("u_est", "y_est", "u_test", "y_test", "fs"))
    estimation = _delayed(y, u, float(rate))
    test = _delayed(y_test[:1], u_test[:1], float(rate))  # the multisine
    return Problem(
        "wiener-hammerstein",
        "measured",
        estimation.subset(range(8)),
        estimation.subset([8, 9]),
        test,
        test,
        100,
        (0.03,),
        (10, 20, 50),
        (8, 16),
    )


def _delayed(y: np.ndarray, u: np.ndarray, rate: float) -> Trajectories:
    outputs, inputs = ([record[:, None].astype(float) for record in records] for records in (y, u))
    raw = Trajectories.from_arrays(outputs, inputs, dt=1 / rate, state_names=["y"], input_names=["u"])
    return embed_delays(raw, states=12, inputs=12)
