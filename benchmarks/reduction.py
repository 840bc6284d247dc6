"""Which observables to keep: the horizon sieve against eight other ways, on five systems.

    python benchmarks/reduction.py [--quick] [--data DIR] [--systems NAMES] [--snr DB ...] [--refit best|one-step]

Every subset of observables gets the same refit: `best` takes least squares one step ahead or over the horizons,
whichever predicts better on the validation trajectories, stabilised where that costs nothing; `one-step` takes least
squares one step ahead for all. The table is Markdown; NMSE is the mean over the outputs on test trajectories.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from reduction_rivals import (
    graph_of_sparse_bayes,
    graph_of_spike_slab,
    graph_of_stlsq,
    largest_coefficients,
    matching_pursuit,
    random_subset,
    truncated_svd,
)
from reduction_systems import Problem, problems

from koopsieve import HorizonSieve, LeastSquares, LiftedModel, compress, horizon_nmse, sieve_path
from koopsieve.path.refits import LONG, Refitter, default_refits
from koopsieve.path.sieve_path import filled

SYSTEMS = ("lorenz", "duffing", "van-der-pol", "surface-vehicle", "wiener-hammerstein")
SIEVE = "horizon sieve"


@dataclass(frozen=True, eq=False)
class Row:
    """One line of the table."""

    system: str
    noise: str
    asked: str
    method: str
    size: int
    error: np.ndarray
    condition: float
    seconds: float
    finite: bool

    def markdown(self) -> str:
        errors = " | ".join(_number(value) for value in self.error)
        mark = "" if self.finite else " (1000 steps overflow)"
        return (
            f"| {self.system} | {self.noise} | {self.asked} | {self.method}{mark} | {self.size} | {errors} | "
            f"{_number(self.condition)} | {self.seconds:.1f} |"
        )


@dataclass(frozen=True, eq=False)
class Bench:
    """One problem with everything that is prepared once."""

    problem: Problem
    one_step: bool
    draws: int

    def rows(self) -> list[Row]:
        problem = self.problem
        phi = problem.recipe().fit(problem.train, seed=0)
        statistics = compress(problem.train, phi, horizons=filled(problem.shown))
        full = self._refitted(statistics, phi)
        plain = LiftedModel.from_estimate(LeastSquares().identify(statistics), phi, dt=problem.train.dt)
        found = [self._row("all", "everything, least squares", plain, 0.0), self._row("all", "everything", full, 0.0)]
        found.append(self._automatic())
        pick = self._pickers(statistics)
        swept, took = _timed(lambda: HorizonSieve().sizes(statistics, problem.sizes))
        for size, kept in zip(problem.sizes, swept, strict=True):
            found.append(self._subset(str(size), SIEVE, statistics, phi, kept.retained, took / len(swept)))
            for method, (choose, setup) in pick.items():
                retained, seconds = _timed(lambda: choose(size))  # noqa: B023
                found.append(self._subset(str(size), method, statistics, phi, retained, seconds + setup))
            found.append(self._random(size, statistics, phi))
            found.append(self._fresh_kernels(size))
            model, seconds = _timed(lambda: truncated_svd(statistics, phi, problem.train.dt, size))  # noqa: B023
            found.append(self._row(str(size), "truncated SVD", model, seconds, size))
        return found

    def _pickers(self, statistics) -> dict[str, tuple[Callable[[int], np.ndarray], float]]:
        """Return, per method, a function of the size, and the seconds its preparation took per size."""
        share = len(self.problem.sizes)
        stlsq, a = _timed(lambda: graph_of_stlsq(statistics))
        bayes, b = _timed(lambda: graph_of_sparse_bayes(statistics))
        paper, c = _timed(lambda: graph_of_spike_slab(statistics, 12))
        return {
            "matching pursuit": (lambda size: matching_pursuit(statistics, size), 0.0),
            "largest coefficients": (lambda size: largest_coefficients(statistics, size), 0.0),
            "STLSQ + graph": (stlsq, a / share),
            "SparseBayes + graph": (bayes, b / share),
            "the paper's sieve": (paper, c / share),
        }

    def _automatic(self) -> Row:
        problem = self.problem
        path, seconds = _timed(
            lambda: sieve_path(
                HorizonSieve(),
                problem.train,
                problem.recipe(),
                validation=problem.validation,
                horizons=problem.shown,
                refits={"one step": LeastSquares()} if self.one_step else None,
            )
        )
        return self._row("automatic", "horizon sieve, path", path.model, seconds)

    def _subset(self, asked: str, method: str, statistics, phi, retained: np.ndarray, seconds: float) -> Row:
        model = self._refitted(statistics.select(retained), phi.select(retained))
        return self._row(asked, method, model, seconds)

    def _random(self, size: int, statistics, phi) -> Row:
        rng = np.random.default_rng(11)
        rows = [
            self._subset(
                str(size), "random subset (median)", statistics, phi, random_subset(statistics, size, rng), 0.0
            )
            for _ in range(self.draws)
        ]
        error = np.median([row.error for row in rows], axis=0)
        condition = float(np.median([row.condition for row in rows]))
        first = rows[0]
        finite = all(row.finite for row in rows)
        return Row(first.system, first.noise, first.asked, first.method, size, error, condition, 0.0, finite)

    def _fresh_kernels(self, size: int) -> Row:
        """The outputs, a constant and kernels clustered anew; the kernel width that validates best."""
        problem = self.problem
        states, outputs = problem.train.n_states, len(problem.train.outputs)
        begun, found = time.perf_counter(), []
        for width in problem.coefficients:
            phi = problem.recipe(size - outputs - 1, (width,)).fit(problem.train, seed=0)
            phi = phi.select([*problem.train.outputs, *range(states, phi.size)])
            found.append(self._refitter()(compress(problem.train, phi, horizons=filled(problem.shown)), phi))
        best = min(found, key=lambda one: one.errors.score(0.5))
        return self._row(str(size), "fresh k-means kernels", best.model, time.perf_counter() - begun)

    def _refitter(self) -> Refitter:
        refits = {"one step": LeastSquares()} if self.one_step else default_refits()
        return Refitter(self.problem.validation, self.problem.shown, refits)

    def _refitted(self, statistics, dictionary) -> LiftedModel:
        return self._refitter()(statistics, dictionary).model

    def _row(self, asked: str, method: str, model: LiftedModel, seconds: float, size: int | None = None) -> Row:
        problem = self.problem
        errors = horizon_nmse(model, problem.test, problem.shown, truth=problem.truth)
        error = np.mean(list(errors.values()), axis=0)
        count = len(model.A) if size is None else size
        condition = model.condition_number
        finite = _finite(model, problem)
        return Row(problem.name, problem.noise, asked, method, count, error, condition, seconds, finite)


def _finite(model: LiftedModel, problem: Problem) -> bool:
    """Tell whether a prediction over 1000 steps with the test inputs stays finite."""
    test = problem.test
    steps = min(LONG, len(test.inputs[0]))
    inputs = np.resize(test.inputs[0][:steps], (LONG, test.n_inputs)) if test.n_inputs else None
    return bool(np.isfinite(model.predict(test.states[0][0], inputs, LONG)).all())


def _timed(work: Callable):
    begun = time.perf_counter()
    return work(), time.perf_counter() - begun


def _number(value: float) -> str:
    return f"{value:.2e}" if np.isfinite(value) else str(value)


def summary(rows: list[Row]) -> str:
    """Geometric means at the longest horizon at equal size, and what the automatic choice keeps."""
    sized = [row for row in rows if row.asked.isdigit()]
    cases = sorted({(row.system, row.noise, row.asked) for row in sized})
    methods = list(dict.fromkeys(row.method for row in sized))
    error = {(row.system, row.noise, row.asked, row.method): row.error for row in sized}
    lines = ["", f"Geometric mean NMSE over {len(cases)} cases at equal size, by shown horizon:", ""]
    lines += ["| method | first | second | longest | lowest at the longest in |", "|---|---|---|---|---|"]
    winner = {case: min(methods, key=lambda m: _worst(error[(*case, m)][2])) for case in cases}
    for method in methods:
        table = np.array([[_worst(value) for value in error[(*case, method)]] for case in cases])
        means = " | ".join(_number(value) for value in np.exp(np.mean(np.log(table), axis=0)))
        lines.append(f"| {method} | {means} | {sum(winner[case] == method for case in cases)} |")
    lines += ["", "Automatic choice against everything (error over error, by shown horizon):", ""]
    lines += [
        "| system | noise | kept | of | against least squares | against the same refit |",
        "|---|---|---|---|---|---|",
    ]
    for row in (row for row in rows if row.asked == "automatic"):
        plain, full = (r for r in rows if (r.system, r.noise, r.asked) == (row.system, row.noise, "all"))
        ratios = [" / ".join(f"{value:.2f}" for value in row.error / other.error) for other in (plain, full)]
        lines.append(f"| {row.system} | {row.noise} | {row.size} | {full.size} | {ratios[0]} | {ratios[1]} |")
    lost = [case for case in cases if winner[case] != SIEVE]
    lines += ["", "A rival is lowest at the longest horizon in: "]
    lines += [f"- {system}, {noise}, {size} kept: {winner[(system, noise, size)]}" for system, noise, size in lost]
    return "\n".join(lines)


def _worst(value: float) -> float:
    return float(min(value, 1e6)) if np.isfinite(value) else 1e6  # a model that diverges is as bad as can be


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one noise level, half the samples, 5 random draws")
    parser.add_argument("--data", type=Path, default=os.environ.get("KOOPSIEVE_DATA"))
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=SYSTEMS)
    parser.add_argument("--snr", nargs="+", type=float, default=[40.0, 20.0])
    parser.add_argument("--seed", type=int, default=7, help="of the simulated data")
    parser.add_argument("--refit", choices=("best", "one-step"), default="best")
    options = parser.parse_args()
    levels = options.snr[:1] if options.quick else options.snr
    data = None if options.data is None else Path(options.data)
    print("| system | noise | size asked | method | kept | NMSE, 1st horizon | 2nd | longest | κ(A) | seconds |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    rows = []
    for problem in problems(options.systems, levels, data, 2000 if options.quick else 4000, options.seed):
        found = Bench(problem, options.refit == "one-step", 5 if options.quick else 20).rows()
        print("\n".join(row.markdown() for row in found), flush=True)
        rows += found
    print(summary(rows))


if __name__ == "__main__":
    main()
