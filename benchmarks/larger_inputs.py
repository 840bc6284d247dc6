"""Inputs larger than those a model was learned from: the default job on nine simulated plants.

    python -m benchmarks.larger_inputs [--plants NAMES] [--noise 0.02 0.002] [--seeds 11 12]

`sift(train)` gets one record with noise. The model is then asked for records without noise whose inputs are 1, 1.3 and
1.5 times as large. *linear* is the choice in the linear form. *without the check* is what the path of the same form
would have given had nobody asked whether free runs stay in range (D79). Both are learned from three quarters of the
record. Errors are NMSE at 50 steps, mean over the outputs.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from koopsieve import KoopsieveWarning, Trajectories, horizon_nmse, sift
from koopsieve.forms import Model
from koopsieve.sifting.choose import chosen_point

Array = NDArray[np.float64]
FACTORS = (1.0, 1.3, 1.5)
HORIZON = 50
WORST = 100.0  # larger errors count as this one in the means
WORSE = 1.1  # times the error of the linear form, from which a model counts as worse


def steps(rng: np.random.Generator, samples: int, hold: int) -> Array:
    """Return values between −1 and 1, each held for some samples."""
    return np.repeat(rng.uniform(-1, 1, -(-samples // hold)), hold)[:samples]


def sines(rng: np.random.Generator, samples: int, fastest: float) -> Array:
    """Return a sum of twelve sines, at most 1, up to a frequency in periods per sample."""
    frequency, phase = rng.uniform(0.002, fastest, 12), rng.uniform(0, 2 * np.pi, 12)
    wave = np.sin(2 * np.pi * frequency * np.arange(samples)[:, None] + phase).sum(axis=1)
    scaled: Array = wave / np.abs(wave).max()
    return scaled


@dataclass(frozen=True)
class Plant:
    """A plant in discrete time, from rest.

    Parameters
    ----------
    drive : callable
        Inputs of size one from a generator.
    step : callable
        The next state, of a state and an input.
    output : callable
    start : tuple of float
    """

    drive: Callable[[np.random.Generator], Array]
    step: Callable[[Array, Array], Array]
    output: Callable[[Array], Array]
    start: tuple[float, ...] = (0.0, 0.0)

    def record(self, rng: np.random.Generator, factor: float, noise: float) -> Trajectories:
        """Return a record; `noise` is relative to the deviation of each output."""
        inputs = factor * self.drive(rng)
        inputs = inputs.reshape(len(inputs), -1)
        states = [np.array(self.start)]
        for u in inputs:
            states.append(self.step(states[-1], u))
        y = np.array([self.output(x) for x in states])
        return Trajectories.from_arrays(y + noise * y.std(axis=0) * rng.normal(size=y.shape), inputs, dt=0.1)


def runge_kutta(rate: Callable[[Array, Array], Sequence[float]], dt: float) -> Callable[[Array, Array], Array]:
    """Return the step of a plant in continuous time."""

    def step(x: Array, u: Array) -> Array:
        a = np.asarray(rate(x, u))
        b = np.asarray(rate(x + dt / 2 * a, u))
        c = np.asarray(rate(x + dt / 2 * b, u))
        d = np.asarray(rate(x + dt * c, u))
        moved: Array = x + dt / 6 * (a + 2 * b + 2 * c + d)
        return moved

    return step


def _first(x: Array) -> Array:
    return x[:1]


def _second(x: Array) -> Array:
    return x[1:2]


def _drag(x: Array, u: Array) -> Array:
    force = 0.85 * x[0] + 0.25 * np.tanh(1.5 * u[0]) - 0.05 * x[1] * abs(x[1])
    return np.array([force, 0.95 * x[1] + 0.3 * force])


def _heater(x: Array, u: Array) -> Array:
    heat = np.sign(u[0]) * max(abs(u[0]) - 0.2, 0.0)
    radiated = 0.3 * ((1 + 0.3 * x[0]) ** 4 - 1)
    warmer = x[0] + 0.08 * (heat - 0.5 * x[0] - radiated + 0.5 * (x[1] - x[0]))
    return np.array([warmer, x[1] + 0.02 * (x[0] - x[1])])


def _tanks(x: Array, u: Array) -> tuple[float, float]:
    upper, lower = np.sqrt(np.maximum(x, 0.0))
    return 0.6 + 0.35 * u[0] - 0.5 * upper, 0.5 * (upper - lower)


def _motor(x: Array, u: Array) -> tuple[float, float]:
    field = 0.6 + 0.3 * u[1]
    return u[0] - x[0] - 0.5 * x[1] * field, x[0] * field - 0.3 * x[1] - 0.05 * x[1] * abs(x[1])


PLANTS = {
    "saturating drive, drag": Plant(lambda rng: steps(rng, 1500, 10), _drag, _second),
    "heater with dead zone": Plant(lambda rng: steps(rng, 1200, 25), _heater, _first),
    "two tanks": Plant(lambda rng: steps(rng, 1500, 15), runge_kutta(_tanks, 0.3), _second, (1.4, 1.4)),
    "motor, two inputs": Plant(
        lambda rng: np.stack([steps(rng, 1500, 12), steps(rng, 1500, 17)], axis=1), runge_kutta(_motor, 0.1), np.copy
    ),
    "Hammerstein": Plant(
        lambda rng: sines(rng, 2000, 0.08),
        lambda x, u: np.array([1.6 * x[0] - 0.7 * x[1] + 0.1 * (u[0] + 0.4 * u[0] ** 2), x[0]]),
        _first,
    ),
    "Wiener": Plant(
        lambda rng: steps(rng, 2000, 6),
        lambda x, u: np.array([1.5 * x[0] - 0.6 * x[1] + 0.1 * u[0], x[0]]),
        lambda x: np.tanh(1.5 * x[:1]) + 0.1 * x[:1],
    ),
    "hardening spring": Plant(
        lambda rng: steps(rng, 2000, 10),
        runge_kutta(lambda x, u: (x[1], 1.2 * u[0] - x[0] - x[0] ** 3 - 0.3 * x[1]), 0.1),
        _first,
    ),
    "cubic damper": Plant(
        lambda rng: sines(rng, 3000, 0.15),
        runge_kutta(lambda x, u: (x[1], 1.5 * u[0] - 2 * x[0] - 0.1 * x[1] - 0.5 * x[1] ** 3), 0.15),
        _first,
    ),
    "softening spring": Plant(
        lambda rng: steps(rng, 1500, 12),
        runge_kutta(lambda x, u: (x[1], 0.6 * u[0] - np.sin(x[0]) - 0.5 * x[1]), 0.2),
        _first,
    ),
}


@dataclass(frozen=True)
class Found:
    """Errors at the three sizes of inputs, and how many terms there are."""

    form: str
    terms: int
    in_range: bool
    chosen: Array
    linear: Array
    unchecked: Array


def found(plant: Plant, noise: float, seed: int) -> Found:
    """Run the default job on one record and ask for three others."""
    tests = [plant.record(np.random.default_rng([seed, i]), factor, 0.0) for i, factor in enumerate(FACTORS, 1)]
    result = sift(plant.record(np.random.default_rng([seed, 0]), 1.0, noise), seed=seed)
    path = result.path
    plain = path.points[chosen_point([replace(point, in_range=True) for point in path.points])]

    def errors(model: Model) -> Array:
        return np.array([np.mean(list(horizon_nmse(model, test, [HORIZON]).values())) for test in tests])

    linear = result.paths["linear"].choice.model
    words = path.form, path.choice.size, path.choice.in_range
    return Found(*words, errors(result.model), errors(linear), errors(plain.model))


def main() -> None:
    """Print the table."""
    options = _options()
    print("| plant | noise | seed | form | terms | stays in range | chosen | linear | without the check |")
    print("|---|---|---|---|---|---|---|---|---|")
    every = []
    for name in options.plants:
        for noise in options.noise:
            for seed in options.seeds:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", KoopsieveWarning)
                    one = found(PLANTS[name], noise, seed)
                every.append(one)
                columns = (" / ".join(f"{e:.2g}" for e in row) for row in (one.chosen, one.linear, one.unchecked))
                stays = "yes" if one.in_range else "no"
                words = f"| {name} | {noise:g} | {seed} | {one.form} | {one.terms} | {stays} |"
                print(words, " | ".join(columns), "|", flush=True)
    _summary(every)


def _summary(every: Sequence[Found]) -> None:
    def mean(rows: Sequence[Array]) -> str:
        capped = np.minimum(np.nan_to_num(np.array(rows), nan=np.inf), WORST)
        return " / ".join(f"{e:.2g}" for e in np.exp(np.log(capped).mean(axis=0)))

    sizes = " / ".join(f"{factor:g}" for factor in FACTORS)
    print(f"\nGeometric means with inputs {sizes} times as large, errors above {WORST:g} counted as {WORST:g}:")
    print(f"chosen {mean([one.chosen for one in every])}, linear {mean([one.linear for one in every])},")
    print(f"without the check {mean([one.unchecked for one in every])}.")
    linear = np.array([one.linear for one in every])
    for name, field in (("chosen", "chosen"), ("without the check", "unchecked")):
        worse = (np.array([getattr(one, field) for one in every]) > WORSE * linear).sum(axis=0)
        print(f"More than {WORSE:g} times the error of linear, of {len(every)}: {name} {' / '.join(map(str, worse))}.")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plants", nargs="+", choices=PLANTS, default=list(PLANTS), metavar="NAME")
    parser.add_argument("--noise", nargs="+", type=float, default=[0.02, 0.002])
    parser.add_argument("--seeds", nargs="+", type=int, default=[11, 12])
    return parser.parse_args()


if __name__ == "__main__":
    main()
