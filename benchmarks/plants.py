"""Simulated plants of kinds that records have: `sift(train)` beside ARX, on a new record of the same plant.

    python -m benchmarks.plants [--samples 700] [--seeds 11 21] [--plants valve motor …] [--thinned]

Each plant is simulated twice as long as its record, or as asked for; the first half is the training record. Scores are
those of `benchmarks.records`: the root mean square error of a simulation of the whole test record from its first
outputs, as measured, relative to their standard deviation. With `--thinned` records that are sampled much faster than
they change are learned from, and judged, with fewer samples, as a remark of the result advises.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks import plant_kinds as kinds
from benchmarks.measured import simulation_rmse
from benchmarks.plant_kinds import Simulated, multisine, steps
from benchmarks.record_data import Test
from benchmarks.records import DELAYS, arx, by_simulation
from koopsieve import KoopsieveWarning, Trajectories, sift
from koopsieve._types import FloatArray
from koopsieve.sifting.tables import WELL_SAMPLED

RUN_IN = 200  # samples before the record
WARM_UP = 30  # outputs that a simulation may start from
LAG = np.array([[0.9, 0.2, 0.0], [-0.2, 0.9, 0.1], [0.0, 0.0, 0.7]])


@dataclass(frozen=True)
class Plant:
    """A plant, its measurement noise relative to the standard deviation of its outputs, and how it is recorded."""

    simulate: Callable[[np.random.Generator, int], Simulated]
    noise: float
    samples: int = 700
    episodes: int = 1

    def record(self, samples: int | None, seed: int) -> tuple[Trajectories, Test]:
        """Return a training and a test record; the first is cut into episodes between which a tenth is missing."""
        rng, samples = np.random.default_rng(seed), samples or self.samples
        u, y = self.simulate(rng, 2 * samples + RUN_IN)
        y = y.reshape(len(y), -1)[RUN_IN:]
        y = y + self.noise * y.std(axis=0) * rng.normal(size=y.shape)
        u = np.zeros((len(y), 0)) if u is None else u.reshape(len(u), -1)[RUN_IN:]
        length = samples // self.episodes
        ends = [
            (first, first + (length if self.episodes == 1 else length * 9 // 10)) for first in range(0, samples, length)
        ]
        outputs, inputs = ([part[first:last] for first, last in ends] for part in (y, u))
        train = Trajectories.from_arrays(outputs, inputs if u.shape[1] else None, dt=1.0)
        return train, Test(y[samples:], u[samples:], WARM_UP)


def heater(rng: np.random.Generator, samples: int) -> Simulated:
    """Heat by the square of the input six samples ago; losses grow with the temperature."""
    u, y = steps(rng, samples, 40, 0, 1), np.zeros(samples)
    for k in range(samples - 1):
        y[k + 1] = y[k] + 0.02 * (-y[k] - 0.15 * y[k] * abs(y[k]) + 4 * u[max(k - 6, 0)] ** 2)
    return u, y


def motor(rng: np.random.Generator, samples: int) -> Simulated:
    """The position of a motor with dry friction: it integrates."""
    u, y, x, v = 1.2 * multisine(rng, samples, 0.001, 0.02), np.zeros(samples), 0.0, 0.0
    for k in range(samples):
        y[k] = x
        for _ in range(10):
            v += 0.01 * (u[k] - 0.6 * np.tanh(v / 0.01) - 0.4 * v)
            x += 0.01 * v
    return u, y


def pendulum(rng: np.random.Generator, samples: int) -> Simulated:
    """The sine of a pendulum's angle, pushed until it turns over."""
    u, y, angle, speed = 2.0 * multisine(rng, samples, 0.001, 0.05), np.zeros(samples), 0.0, 0.0
    for k in range(samples):
        y[k] = np.sin(angle)
        for _ in range(5):
            speed += 0.01 * (-9.8 * np.sin(angle) - 0.4 * speed + 2 * u[k])
            angle += 0.01 * speed
    return u, y


def filtered(force: FloatArray) -> FloatArray:
    """Return the output of a lag of third order."""
    x, y = np.zeros(3), np.zeros(len(force))
    for k, value in enumerate(force):
        y[k] = x[0]
        x = LAG @ x + np.array([0.0, 0.1, 0.3]) * value
    return y


def hammerstein(rng: np.random.Generator, samples: int) -> Simulated:
    """An input that saturates before the lag."""
    u = multisine(rng, samples, 0.001, 0.1)
    return u, filtered(np.tanh(1.5 * u) + 0.1 * u)


def wiener(rng: np.random.Generator, samples: int) -> Simulated:
    """A sensor that saturates behind the lag."""
    u = multisine(rng, samples, 0.001, 0.1)
    x = filtered(u)
    return u, np.arctan(1.2 * x) + 0.1 * x**2


def linear(rng: np.random.Generator, samples: int) -> Simulated:
    """A linear plant of second order."""
    u, y = rng.normal(size=samples), np.zeros(samples)
    for k in range(2, samples):
        y[k] = 1.5 * y[k - 1] - 0.7 * y[k - 2] + u[k - 1] + 0.5 * u[k - 2]
    return u, y


def drives(rng: np.random.Generator, samples: int) -> Simulated:
    """The absolute value of a speed behind a resonance."""
    u, x, y = steps(rng, samples, 12, -1.5, 1.5), np.zeros(3), np.zeros(samples)
    A, b = np.array([[0.95, 0.1, 0.0], [-0.1, 0.95, 0.1], [0.0, 0.0, 0.8]]), np.array([0.0, 0.1, 0.2])
    for k in range(samples):
        y[k] = abs(x[0])
        x = A @ x + b * u[k]
    return u, y


def four_tanks(rng: np.random.Generator, samples: int) -> Simulated:
    """The lower two of four tanks, filled by two pumps."""
    u = np.column_stack([steps(rng, samples, 60, 1, 5), steps(rng, samples, 75, 1, 5)])
    level, y = np.array([8.0, 8.0, 2.0, 2.0]), np.zeros((samples, 2))
    for k in range(samples):
        y[k] = level[:2]
        out = 0.35 * np.sqrt(np.maximum(level, 0))
        into = np.array([out[2] + 0.06 * u[k, 0], out[3] + 0.06 * u[k, 1], 0.14 * u[k, 1], 0.14 * u[k, 0]])
        level = np.maximum(level + into - out, 0)
    return u, y


def oscillator(rng: np.random.Generator, samples: int) -> Simulated:
    """The van der Pol oscillator, which has no input."""
    x, y = rng.normal(size=2), np.zeros(samples)
    for k in range(samples):
        y[k] = x[0]
        for _ in range(5):
            x = x + 0.01 * np.array([x[1], 0.8 * (1 - x[0] ** 2) * x[1] - x[0]])
    return None, y


def valve(rng: np.random.Generator, samples: int) -> Simulated:
    """A valve with a dead zone and a stop before a lag of second order."""
    u, y = steps(rng, samples, 25, -2, 2), np.zeros(samples)
    opened = np.clip(np.sign(u) * np.maximum(np.abs(u) - 0.3, 0), -1, 1)
    for k in range(2, samples):
        y[k] = 1.7 * y[k - 1] - 0.73 * y[k - 2] + 0.02 * opened[k - 1] + 0.01 * opened[k - 2]
    return u, y


def wells(rng: np.random.Generator, samples: int) -> Simulated:
    """A spring with two positions of rest, pushed from one to the other and back: small errors do not stay small."""
    u, y, x, v = 0.6 * multisine(rng, samples, 0.002, 0.05), np.zeros(samples), 1.0, 0.0
    for k in range(samples):
        y[k] = x
        for _ in range(10):
            v += 0.02 * (x - x**3 - 0.35 * v + 0.9 * u[k])
            x += 0.02 * v
    return u, y


def melting(rng: np.random.Generator, samples: int) -> Simulated:
    """Three temperatures of a glass furnace, which are linear in three inputs, with slow disturbances."""
    u = np.column_stack([kinds.binary(rng, samples, hold, -1, 1) for hold in (10, 14, 18)])
    gains = np.array([[1, 0.5, 0.2], [0.3, 1, 0.6], [-0.4, 0.2, 0.8]])
    lags: list[list[complex]] = [[0.93, 0.6], [0.9, 0.7], [0.95]]
    x = [kinds.driven(u @ gains[i], lags[i], late=1 + i) + kinds.coloured(rng, samples, 0.9, 0.25) for i in range(3)]
    return u, np.column_stack(x) + np.array([1500, 1480, 900])


def trolley(rng: np.random.Generator, samples: int) -> Simulated:
    """A trolley with dry friction, which a controller moves, and the angle of what hangs from it."""
    goal, u, y, x = steps(rng, samples, 90, -0.6, 0.6), np.zeros(samples), np.zeros((samples, 2)), np.zeros(4)
    for k in range(samples):
        y[k], u[k] = x[:2], 8 * (goal[k] - x[0]) - 5 * x[2]
        for _ in range(5):
            sine, cosine = np.sin(x[1]), np.cos(x[1])
            push = u[k] - 0.6 * np.tanh(x[2] / 0.05) - 2 * x[2] + 0.3 * sine * (0.5 * x[3] ** 2 + 9.8 * cosine)
            faster = push / (1 + 0.3 * sine**2)
            x[2:] += 0.008 * np.array([faster, -(faster * cosine + 9.8 * sine) / 0.5 - 0.2 * x[3]])
            x[:2] += 0.008 * x[2:]
    return u, y


def random_poles(rng: np.random.Generator, samples: int) -> Simulated:
    """A linear plant of order two to six with poles and input drawn anew for every record."""
    poles: list[complex] = []
    while sum(1 + bool(np.imag(pole)) for pole in poles) < rng.integers(2, 6):
        turned = np.exp(1j * rng.uniform(0.1, 1.2)) if rng.random() < 0.5 else 1.0
        poles.append(rng.uniform(0.5, 0.95) * turned)
    u = steps(rng, samples, int(rng.choice([1, 8, 12])), -1, 1)
    return u, kinds.driven(u, poles, late=int(rng.integers(1, 4)))


PLANTS = {
    "heater": Plant(heater, 0.01),
    "motor": Plant(motor, 0.001),
    "pendulum": Plant(pendulum, 0.01),
    "hammerstein": Plant(hammerstein, 0.01),
    "wiener": Plant(wiener, 0.01),
    "linear": Plant(linear, 0.1),
    "drives": Plant(drives, 0.02),
    "four_tanks": Plant(four_tanks, 0.02),
    "oscillator": Plant(oscillator, 0.02),
    "valve": Plant(valve, 0.005),
    "axis": Plant(kinds.axis, 0.0005, 3000),
    "modes": Plant(kinds.modes, 0.01, 3000),
    "furnace": Plant(kinds.furnace, 0.02, 300),
    "emission": Plant(kinds.emission, 0.02, 800),
    "reactor": Plant(kinds.reactor, 0.01, 1000),
    "neutralisation": Plant(kinds.neutralisation, 0.02, 1000),
    "heating": Plant(kinds.heating, 0.01, 800),
    "arm": Plant(kinds.arm, 0.005, 1000),
    "placing": Plant(kinds.placing, 0.01, 1000),
    "dryer": Plant(kinds.dryer, 0.02, 500),
    "battery": Plant(kinds.battery, 0.005, 1500),
    "backlash": Plant(kinds.backlash, 0.01, 800),
    "crane": Plant(kinds.crane, 0.01, 1000),
    "filters": Plant(kinds.filters, 0.01, 2000),
    "distillation": Plant(kinds.distillation, 0.05, 1000),
    "piezo": Plant(kinds.piezo, 0.002, 1000),
    "levitation": Plant(kinds.levitation, 0.01, 2000),
    "quantised": Plant(kinds.quantised, 0.0, 400),
    "outliers": Plant(kinds.outliers, 0.02, 600),
    "trend": Plant(kinds.trend, 0.02, 600),
    "switched": Plant(kinds.switched, 0.03, 700),
    "larger": Plant(kinds.larger, 0.01, 1000),
    "resonances": Plant(kinds.resonances, 0.1, 1500),
    "building": Plant(kinds.building, 0.02, 400),
    "sunspots": Plant(kinds.sunspots, 0.0, 300),
    "episodes": Plant(kinds.switched, 0.01, 1200, 6),
    "coloured": Plant(kinds.furnace, 0.1, 250),
    "random_poles": Plant(random_poles, 0.1, 250),
    "wells": Plant(wells, 0.01, 2000),
    "melting": Plant(melting, 0.05, 500),
    "trolley": Plant(trolley, 0.002, 1500, 5),
    "structure": Plant(kinds.structure, 0.01, 4000),
    "kilohertz": Plant(kinds.kilohertz, 0.01, 60_000),
    "warming": Plant(kinds.warming, 0.01, 4000),
}


def thinned(train: Trajectories, test: Test) -> tuple[Trajectories, Test]:
    """Return one sample in so many that the outputs lose half of their correlation in about `WELL_SAMPLED` of them."""
    every = max(round(train.memory / WELL_SAMPLED), 1)
    inputs = [np.vstack([u, u[-1:]])[::every] for u in train.inputs]
    fewer = Trajectories.from_arrays([y[::every] for y in train.states], inputs if train.n_inputs else None, dt=every)
    return fewer, Test(test.y[::every], test.u[::every], test.warm_up)


def row(name: str, samples: int | None, seed: int, thin: bool) -> tuple[str, float]:
    """Return one plant as a row of the table, and our error over that of ARX."""
    train, test = PLANTS[name].record(samples, seed)
    train, test = thinned(train, test) if thin else (train, test)
    begun = time.process_time()
    result = sift(train)
    seconds, spread = time.process_time() - begun, np.std(test.y[WARM_UP:], axis=0)
    with np.errstate(all="ignore"):
        ours, other = (
            float(np.mean(simulation_rmse(model, test) / spread))
            for model in (result.model, by_simulation(train, arx, DELAYS))
        )
    taken = f"{result.form} | {result.n_terms}"
    return (
        f"| {name} | {seed} | {taken} | {ours:.3g} | {other:.3g} | {ours / other:.3f} | {seconds:.0f} |",
        ours / other,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, help="of the training record; each plant has its own")
    parser.add_argument("--seeds", type=int, nargs="*", default=[11, 21])
    parser.add_argument("--plants", nargs="*", default=[*PLANTS], choices=[*PLANTS])
    parser.add_argument("--thinned", action="store_true", help="take no more samples than tell of the outputs")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", KoopsieveWarning)
    print("| plant | seed | taken | terms | ours | ARX | / ARX | processor seconds |\n" + "|---" * 8 + "|")
    ratios = []
    for seed in asked.seeds:
        for name in asked.plants:
            line, ratio = row(name, asked.samples, seed, asked.thinned)
            ratios.append(ratio)
            print(line, flush=True)
    print(f"\nours / ARX: geometric mean {np.exp(np.mean(np.log(ratios))):.2f}, worst {max(ratios):.2f}")


if __name__ == "__main__":
    main()
