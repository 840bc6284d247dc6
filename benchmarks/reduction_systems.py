"""The systems of the reduction benchmark: training, validation and test trajectories, candidates and horizons.

Settings are the same for all simulated systems. Nothing was tuned on the ten that came last (`NEW`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from systems import (
    double_well,
    fitzhugh_nagumo,
    lorenz96,
    lotka_volterra,
    oregonator,
    pendulum,
    planar_quadrotor,
    rossler,
    stirred_tank,
)

from koopsieve import Constant, SquaredExponential, States, Trajectories, embed_delays
from koopsieve.dictionary import Block
from koopsieve.evaluate import add_noise
from koopsieve.systems import (
    duffing,
    lorenz,
    random_drive,
    random_thrust,
    surface_vehicle,
    two_tanks,
    van_der_pol,
)

WIENER_HAMMERSTEIN = "wiener_hammerstein_process_noise.npz"
OLD = ("lorenz", "duffing", "van-der-pol", "surface-vehicle", "wiener-hammerstein")
NEW = (
    "rossler",
    "pendulum",
    "two-tanks",
    "lotka-volterra",
    "fitzhugh-nagumo",
    "stirred-tank",
    "quadrotor",
    "double-well",
    "lorenz96",
    "oregonator",
)
SYSTEMS = OLD + NEW
SHOWN = (1, 10, 40)
SIZES = (10, 25, 50)
SAMPLES = 2000


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
    shown: tuple[int, ...] = SHOWN

    def recipe(self, centers: int | None = None, coefficients: tuple[float, ...] | None = None) -> Block:
        """Return the candidates: the states, a constant, and kernels."""
        kernels = SquaredExponential(
            self.centers if centers is None else centers, coefficients or self.coefficients, standardize=True
        )
        return States() + Constant() + kernels

    def sizes(self, candidates: int) -> tuple[int, ...]:
        """Return the sizes that rivals are compared at: no more than half of the candidates."""
        return tuple(size for size in SIZES if size <= candidates / 2)


@dataclass(frozen=True)
class Case:
    """What it takes to make a problem: cheap to send to another process."""

    name: str
    snr_db: float | None
    seed: int
    samples: int
    data: Path | None

    @property
    def noise(self) -> str:
        """The noise level in words."""
        return "measured" if self.snr_db is None else f"{self.snr_db:g} dB"

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What tells this case from all others."""
        return self.name, self.noise, self.seed, self.samples

    def problem(self) -> Problem:
        """Return the problem: simulated, or read from the measured record."""
        if self.snr_db is None:
            return _measured(self.data / WIENER_HAMMERSTEIN, self.seed, self.samples)
        return _simulated(self.name, self.snr_db, self.samples, self.seed)


def cases(
    names: list[str], noise_levels: list[float], data: Path | None, samples: int, seeds: list[int]
) -> Iterator[Case]:
    """Yield every system asked for at every noise level and seed; measured data have their own noise.

    Seeds vary slowest, so that a run that was stopped has seen every system.
    """
    for seed in seeds:
        for name in names:
            if name != "wiener-hammerstein":
                yield from (Case(name, level, seed, samples, data) for level in noise_levels)
            elif data is not None and (data / WIENER_HAMMERSTEIN).exists():
                yield Case(name, None, seed, samples, data)
            elif seed == seeds[0]:
                print(f"Skipped {name}: {WIENER_HAMMERSTEIN} is not there. Give its folder with --data.\n")


def _simulated(name: str, snr_db: float, samples: int, seed: int) -> Problem:
    rng = np.random.default_rng([seed, sum(map(ord, name)), int(snr_db)])
    clean = [SIMULATE[name](samples, rng) for _ in range(3)]
    train, validation, test = (add_noise(data, snr_db, rng) for data in clean)
    coefficients = (0.3, 3.0) if train.n_states <= 3 else (0.1, 1.0)  # in more directions points lie farther apart
    return Problem(name, f"{snr_db:g} dB", train, validation, test, clean[2], 50, coefficients)


def _free(simulate: Callable[..., np.ndarray], dt: float):
    """Return a simulation without inputs."""

    def run(samples: int, rng: np.random.Generator) -> Trajectories:
        return Trajectories.from_arrays(simulate(samples * dt, dt, seed=rng), dt=dt)

    return run


def _driven(simulate: Callable[..., np.ndarray], dt: float, middle: float, swing: float, start=None):
    """Return a simulation under a random staircase of middle ± swing, each level held for 20 samples."""

    def run(samples: int, rng: np.random.Generator) -> Trajectories:
        drive = middle + random_drive(samples, 20, swing, rng)
        initial = {} if start is None else {"initial": start(rng)}
        return Trajectories.from_arrays(simulate(drive, dt, **initial), drive, dt=dt)

    return run


def _vehicle(samples: int, rng: np.random.Generator) -> Trajectories:
    thrust = random_thrust(samples, 10, rng)
    return Trajectories.from_arrays(surface_vehicle(thrust), thrust, dt=0.1)


def _quadrotor(samples: int, rng: np.random.Generator) -> Trajectories:
    command = np.hstack([random_drive(samples, 20, 3.0, rng), random_drive(samples, 20, 1.5, rng)])
    return Trajectories.from_arrays(planar_quadrotor(command), command, dt=0.05)


def _kicked(samples: int, rng: np.random.Generator) -> Trajectories:
    return Trajectories.from_arrays(double_well(samples, 0.1, seed=rng), dt=0.1)


def _anywhere(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=2)


SIMULATE: dict[str, Callable[[int, np.random.Generator], Trajectories]] = {
    "lorenz": _free(lorenz, 0.01),
    "duffing": _driven(duffing, 0.05, 0.0, 1.0, _anywhere),
    "van-der-pol": _driven(van_der_pol, 0.05, 0.0, 1.0, _anywhere),
    "surface-vehicle": _vehicle,
    "rossler": _free(rossler, 0.05),
    "pendulum": _driven(pendulum, 0.05, 0.0, 1.5),  # with more it turns over, and its angle has no bounds
    "two-tanks": _driven(two_tanks, 5.0, 4.0, 3.0),
    "lotka-volterra": _driven(lotka_volterra, 0.1, 0.0, 0.5),
    "fitzhugh-nagumo": _driven(fitzhugh_nagumo, 0.5, 0.5, 0.5),
    "stirred-tank": _driven(stirred_tank, 0.05, 1.5, 1.4),
    "quadrotor": _quadrotor,
    "double-well": _kicked,
    "lorenz96": _free(lorenz96, 0.02),
    "oregonator": _driven(oregonator, 0.05, 0.02, 0.02),
}


def _measured(path: Path, seed: int, samples: int) -> Problem:
    """Return the measured circuit: the seed says from which of ten records to learn; the next one validates."""
    estimation, test = _records(path)
    train, validation = (estimation.stretches([((seed + i) % 10, 0, samples)]) for i in range(2))
    return Problem("wiener-hammerstein", "measured", train, validation, test, test, 100, (0.03,))


@cache
def _records(path: Path) -> tuple[Trajectories, Trajectories]:
    with np.load(path) as records:
        u, y, u_test, y_test, rate = (records[key] for key in ("u_est", "y_est", "u_test", "y_test", "fs"))
    test = _delayed(y_test[:1], u_test[:1], float(rate))  # the multisine
    return _delayed(y, u, float(rate)), test


def _delayed(y: np.ndarray, u: np.ndarray, rate: float) -> Trajectories:
    outputs, inputs = ([record[:, None].astype(float) for record in records] for records in (y, u))
    raw = Trajectories.from_arrays(outputs, inputs, dt=1 / rate, state_names=["y"], input_names=["u"])
    return embed_delays(raw, states=12, inputs=12)
