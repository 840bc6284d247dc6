"""Prediction forms on simulated plants: each of them, the choice between them, and what is found when nothing is said.

    python -m benchmarks.forms [--systems NAMES] [--snr 20 40] [--seeds 3] [--samples 4000]

The dictionary of the first columns is states, a constant and all monomials up to degree three, of the inputs too. All
forms see the same data. *auto* is the form that the validation data choose; *found* is `sift(train)` with nothing but
the data: delays, dictionary and form are looked for. Errors are the mean NMSE over the outputs at the longest horizon,
on test data that start as measured, against the truth without noise; geometric mean over the seeds. Behind each error
stands how many terms were kept.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from koopsieve import Constant, Inputs, KoopsieveWarning, Monomials, States, Trajectories, horizon_nmse, sift
from koopsieve.evaluate import add_noise
from koopsieve.forms import Model
from koopsieve.systems import (
    HERON_QUADRATIC,
    duffing,
    lorenz,
    random_drive,
    random_thrust,
    surface_vehicle,
    van_der_pol,
)

HORIZONS = {
    "lorenz": (1, 10, 50),
    "duffing": (1, 10, 30),
    "van-der-pol": (1, 10, 30),
    "surface-vehicle": (1, 5, 20),
    "quadratic vehicle": (1, 5, 20),
}


@dataclass(frozen=True)
class Score:
    """The error of one model, how many terms it has, and the seconds that it took."""

    error: float
    terms: int
    seconds: float = np.nan


def simulated(name: str, samples: int, rng: np.random.Generator) -> Trajectories:
    """Return one record without noise."""
    if name == "lorenz":
        return Trajectories.from_arrays(lorenz(samples * 0.01, 0.01, seed=rng), dt=0.01)
    if name.endswith("vehicle"):
        thrust = random_thrust(samples, 10, rng)
        extra = {} if name == "surface-vehicle" else {"vehicle": HERON_QUADRATIC}
        return Trajectories.from_arrays(surface_vehicle(thrust, **extra), thrust, dt=0.1)
    drive = random_drive(samples, 20, 1.0, rng)
    simulate: Callable = {"duffing": duffing, "van-der-pol": van_der_pol}[name]
    return Trajectories.from_arrays(simulate(drive, initial=rng.normal(size=2)), drive, dt=0.05)


def scores(name: str, snr_db: float, samples: int, seed: int) -> dict[str, Score]:
    """Return what every form, the choice and the search without settings score on one record."""
    rng = np.random.default_rng([seed, sum(map(ord, name)), int(snr_db)])
    clean, truth = (simulated(name, samples, rng) for _ in range(2))
    train, test = (add_noise(one, snr_db, rng) for one in (clean, truth))
    horizons, longest = HORIZONS[name], HORIZONS[name][-1]

    def error(model: Model) -> float:
        return float(np.mean([values[-1] for values in horizon_nmse(model, test, [longest], truth=truth).values()]))

    found = {}
    recipe = States() + Constant() + Monomials(3)
    if train.n_inputs:
        recipe = States() + Constant() + Inputs() + Monomials(3, of="states and inputs")
    begun = time.perf_counter()
    made = sift(train, recipe, form="auto", horizons=horizons)
    seconds = time.perf_counter() - begun
    for form, path in made.paths.items():
        found[form] = Score(error(path.choice.model), path.choice.size)
    chosen = found[made.form]
    found["auto"] = Score(chosen.error, chosen.terms, seconds)
    begun = time.perf_counter()
    alone = sift(train, horizons=horizons)
    found["found"] = Score(error(alone.model), alone.n_terms, time.perf_counter() - begun)
    return found


def cell(found: list[dict[str, Score]], column: str) -> str:
    """Return the geometric mean of the errors, and the median number of terms."""
    own = [one[column] for one in found if column in one]
    if not own:
        return "–"
    error = float(np.exp(np.mean([np.log(one.error) for one in own])))
    return f"{error:.2g} ({np.median([one.terms for one in own]):.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", nargs="*", default=list(HORIZONS), choices=list(HORIZONS))
    parser.add_argument("--snr", nargs="*", type=float, default=[20.0, 40.0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=4000)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", KoopsieveWarning)
    columns = ("linear", "bilinear", "reprojected", "auto", "found")
    print("| system | dB | steps | " + " | ".join(columns) + " | auto / best form | found / best form | seconds |")
    print("|---" * (len(columns) + 6) + "|")
    for name in asked.systems:
        for snr_db in asked.snr:
            found = [scores(name, snr_db, asked.samples, seed) for seed in range(asked.seeds)]
            ratios = [
                max(one[column].error / min(one[form].error for form in columns[:3] if form in one) for one in found)
                for column in ("auto", "found")
            ]
            seconds = " + ".join(f"{np.median([one[c].seconds for one in found]):.0f}" for c in ("auto", "found"))
            cells = " | ".join(cell(found, column) for column in columns)
            shown = " | ".join(f"{ratio:.2f}" for ratio in ratios)
            print(f"| {name} | {snr_db:g} | {HORIZONS[name][-1]} | {cells} | {shown} | {seconds} |", flush=True)


if __name__ == "__main__":
    main()
