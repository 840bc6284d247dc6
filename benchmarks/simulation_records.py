"""Measured records, simulated: terms kept, validation error, test error, seconds, for the simulation sieve alone.

Run with `python benchmarks/simulation_records.py --data FOLDER [silverbox tanks wiener_hammerstein] [--auto]`. FOLDER
holds silverbox.mat, cascaded_tanks.mat and wiener_hammerstein_process_noise.npz. Everything is decided on training
data: with `--auto` also the delays, the degree and the timing of the input, which are else those written down in
`FIXED`. Test data are used once, to print the last columns.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))  # the small regressors of the tests
from koopsieve.execution import one_blas_thread
from koopsieve.sieve.simulation import (
    DelayLine,
    Matters,
    Reprojected,
    SimulationSieve,
    box_around,
    choose_paired,
    draw_windows,
    judge,
)
from tests.regressors import Polynomial, embedded

MOST_REGRESSORS = 150
SHORT = 5000  # samples below which every stretch is held out in turn
SCREEN_ROWS = 8000
DELAYS, DEGREES = (1, 2, 4, 8, 14), (1, 2, 3)
SIZES = tuple(range(1, 61))


@dataclass(frozen=True)
class Record:
    """Training episodes, test episodes and how they are scored."""

    train: list
    test: dict
    matters: Matters
    warm_up: int
    unit: str
    factor: float
    horizons: tuple = (1, 10, 50)


@dataclass(frozen=True)
class Setting:
    """Delays of outputs and inputs alike, degree of the monomials, and 1 if u[k+1] acts on y[k+1]."""

    delays: int
    degree: int
    ahead: int

    def __str__(self):
        return f"{self.delays} delays, degree {self.degree}, u[k{'+1' if self.ahead else ''}]"


FIXED = {"silverbox": Setting(2, 3, 1), "tanks": Setting(2, 2, 0), "wiener_hammerstein": Setting(14, 3, 1)}


def silverbox(folder):
    from scipy.io import loadmat

    file = loadmat(folder / "silverbox.mat")
    u, y = file["V1"].T, file["V2"].T
    cut = 40650 + int(0.75 * 86750)
    parts = {"multisine": slice(cut, 127400), "arrow": slice(100, 40575), "no extrapolation": slice(100, 32100)}
    test = {name: (y[part], u[part]) for name, part in parts.items()}
    return Record([(y[40650:cut], u[40650:cut])], test, Matters.SIMULATION, 50, "mV", 1e3)


def tanks(folder):
    from scipy.io import loadmat

    file = loadmat(folder / "cascaded_tanks.mat")
    return Record(
        [(file["yEst"], file["uEst"])], {"test": (file["yVal"], file["uVal"])}, Matters.SIMULATION, 5, "V", 1.0
    )


def wiener_hammerstein(folder):
    file = np.load(folder / "wiener_hammerstein_process_noise.npz")

    def episode(kind, row):
        return file[f"y_{kind}"][row].astype(float)[:, None], file[f"u_{kind}"][row].astype(float)[:, None]

    train = [episode("est", row) for row in range(10)]
    test = {"multisine": episode("test", 0), "sweep": episode("test", 1)}
    return Record(train, test, Matters.HORIZONS, 50, "V", 1.0, (10, 20, 50))


RECORDS: dict[str, Callable] = {"silverbox": silverbox, "tanks": tanks, "wiener_hammerstein": wiener_hammerstein}


@dataclass(frozen=True)
class Prepared:
    """A record embedded with one setting, in standard units, with all its regressors."""

    record: Record
    setting: Setting
    centre: tuple
    scale: tuple
    episodes: list
    model: Reprojected

    @classmethod
    def of(cls, record, setting):
        columns = [np.vstack([episode[i] for episode in record.train]) for i in (0, 1)]
        centre, scale = tuple(c.mean(axis=0) for c in columns), tuple(c.std(axis=0) for c in columns)
        line = DelayLine(columns[0].shape[1], columns[1].shape[1], setting.delays, setting.delays)
        regressors = monomials(line, setting.degree)
        empty = cls(record, setting, centre, scale, [], None)
        episodes = [empty.embedded(episode) for episode in record.train]
        box = box_around(np.vstack([x[:, : line.outputs] for x, _ in episodes]))
        return cls(record, setting, centre, scale, episodes, Reprojected(regressors, line, box))

    def embedded(self, episode):
        y, u = ((v - c) / s for v, c, s in zip(episode, self.centre, self.scale, strict=True))
        y, u = (y[:-1], u[1:]) if self.setting.ahead else (y, u)
        return embedded(y, u, self.setting.delays, self.setting.delays)

    def folds(self):
        """Return pairs of what is learned from and what is held out: episodes, or stretches spread over the record."""
        short = sum(len(x) for x, _ in self.episodes) < SHORT
        turns = (0, 1, 2, 3) if short else (2,)
        if len(self.episodes) >= 4:
            groups = [self.episodes[j::4] for j in range(4)]
            return [([e for i, g in enumerate(groups) if i != j for e in g], groups[j]) for j in turns]
        return [stretches(self.episodes, j, 1 if short else 2) for j in turns]


def stretches(episodes, turn, repeats):
    """Cut every episode into 4·repeats stretches; hold out number `turn` of every four, learn from what is between."""
    learn, held = [], []
    for x, u in episodes:
        cuts, first = np.linspace(0, len(x), 4 * repeats + 1).astype(int), 0
        for i in range(turn, 4 * repeats, 4):
            learn.append((x[first : cuts[i]], u[first : max(cuts[i] - 1, 0)]))
            held.append((x[cuts[i] : cuts[i + 1]], u[cuts[i] : cuts[i + 1] - 1]))
            first = cuts[i + 1]
        learn.append((x[first:], u[first:]))
    return [(x, u) for x, u in learn if len(x) > 1], held


def monomials(line, degree):
    """All lags linearly, and monomials up to `degree` of as many lags as leave at most MOST_REGRESSORS."""
    columns = line.width + line.inputs
    sets = [(), *((i,) for i in range(columns))]
    if degree > 1:
        each = line.outputs + line.inputs
        lags = next(
            m
            for m in range(line.output_delays, -1, -1)
            if comb(each * (m + 1) + degree, degree) <= MOST_REGRESSORS or m == 0
        )
        near = [
            *range(line.outputs * (lags + 1)),
            *(line.depth + i for i in range(line.inputs * lags)),
            *range(line.width, columns),
        ]
        sets += [members for d in range(2, degree + 1) for members in combinations_with_replacement(near, d)]
    factors = np.full((len(sets), degree), columns)
    for row, members in zip(factors, sets, strict=True):
        row[: len(members)] = members
    return Polynomial(factors, columns)


def judged(prepared, sieve, sizes, rough):
    """Return the errors, fold by fold joined, of the best set of each size, and the last fold's path."""
    together = path = None
    for learn, held in prepared.folds():
        problem = sieve.problem(prepared.model, learn, np.random.default_rng(0))
        path = sieve.rough_path(problem) if rough else sieve.path(problem)
        coefs = [path.at_most(size).coef for size in sizes]
        found = judge(prepared.model, coefs, held, prepared.record.horizons, np.random.default_rng(1))
        together = found if together is None else together.joined(found)
    return together, path


def screened(record, length):
    """Return the simplest setting that is as good as the best, after a fast look at each."""
    settings = [Setting(d, g, k) for g in DEGREES for d in DELAYS for k in (0, 1)]
    sieve = SimulationSieve(length=length, rows=SCREEN_ROWS)
    looks = []
    for setting in settings:
        prepared = Prepared.of(record, setting)
        errors, _ = judged(prepared, sieve, (4, 8, 16, 32, 64), rough=True)
        best = choose_paired(errors, record.matters)
        looks.append((prepared.model.regressors.size, setting, errors.taken([best])))
    looks.sort(key=lambda look: (look[0], look[1].ahead))
    together = looks[0][2]
    for _, _, errors in looks[1:]:
        together = together.stacked(errors)
    return looks[choose_paired(together, record.matters)][1]


def test_errors(prepared, point):
    """Return the simulation RMSE of every test record, and the NMSE at the horizons."""
    record, model = prepared.record, prepared.model.select(point.retained)
    coef, n = point.coef[point.retained], model.line.outputs
    words = []
    for name, episode in record.test.items():
        x, u = prepared.embedded(episode)
        if record.matters is Matters.SIMULATION:
            simulated = model.simulate(coef, x[:1], u[None])[0]
            gone = max(record.warm_up - prepared.setting.delays - 1, 0)
            rmse = np.sqrt(np.mean((simulated - x[1:, :n])[gone:] ** 2)) * float(prepared.scale[0][0]) * record.factor
            words.append(f"{name} {rmse:.3f} {record.unit}")
        else:
            windows = draw_windows([(x, u)], n, max(record.horizons), 10**6, np.random.default_rng(0))
            squared = np.mean(
                (model.simulate(coef, windows.starts, windows.inputs) - windows.outputs) ** 2, axis=(0, 2)
            )
            nmse = squared[np.array(record.horizons) - 1] / np.var(x[:, :n])
            words.append(f"{name} " + " ".join(f"{value:.2g}" for value in nmse))
    return ", ".join(words)


def run(name, folder, auto, length):
    begun, record = time.process_time(), RECORDS[name](folder)
    setting = screened(record, length) if auto else FIXED[name]
    looked = time.process_time()
    prepared, sieve = Prepared.of(record, setting), SimulationSieve(length=length)
    errors, path = judged(prepared, sieve, SIZES, rough=False)
    size = SIZES[choose_paired(errors, record.matters)]
    whole = sieve.problem(prepared.model, prepared.episodes, np.random.default_rng(0))
    if len(prepared.folds()) > 1:  # short records: each fold has its own sets, so the path is found anew on everything
        path = sieve.path(whole)
        models = {
            k: path.at_most(k) for k in sorted({*(point.size for point in path.points if point.size <= 30), size})
        }
    else:
        models = {
            k: sieve.refit(whole, path.at_most(k))
            for k in sorted({*(p.size for p in path.points if p.size <= 30), size})
        }
    done = time.process_time()
    print(f"\n{name}: {setting}; {prepared.model.regressors.size} candidates, windows of {length} steps; ", end="")
    print(f"processor seconds: screening {looked - begun:.0f}, path and choice {done - looked:.0f}")
    for terms, point in models.items():
        mark = "chosen" if terms == size else ""
        row = errors.error[SIZES.index(terms)]
        shown = " ".join(f"{value:.3g}" for value in row)
        print(
            f"  {len(point.retained):3} terms  validation {shown}  test {test_errors(prepared, point)}  {mark}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", nargs="*", default=list(RECORDS), choices=[*RECORDS, []])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--auto", action="store_true")
    parser.add_argument("--length", type=int, default=50)
    asked = parser.parse_args()
    with one_blas_thread():
        for name in asked.records or RECORDS:
            run(name, asked.data, asked.auto, asked.length)


if __name__ == "__main__":
    main()
