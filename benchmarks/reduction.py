"""Which observables to keep: the horizon sieve against eight other ways, on five systems.

    python benchmarks/reduction.py [--quick] [--data DIR] [--systems NAMES] [--snr DB ...] [--refit best|one-step]
    python benchmarks/reduction.py --choice --seed 101 102      only the automatic choice, on other simulated data

Every subset of observables gets the same refit: `best` takes least squares one step ahead or over the horizons,
whichever predicts better on the validation trajectories, stabilised where that costs nothing; `one-step` takes least
squares one step ahead for all. All learn from the training trajectories alone. The tables are Markdown; NMSE is the
mean over the outputs on test trajectories. Cases run side by side, one thread each, in as many processes as there are
cores.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from reduction_choice import Choice, choice_of, choice_table, chosen, stays_finite, test_error
from reduction_rivals import (
    graph_of_sparse_bayes,
    graph_of_spike_slab,
    graph_of_stlsq,
    largest_coefficients,
    matching_pursuit,
    random_subset,
    truncated_svd,
)
from reduction_systems import Case, Problem, cases
from reduction_tables import HEAD, SIEVE, Row, equal_size_table

from koopsieve import HorizonSieve, LeastSquares, LiftedModel, compress
from koopsieve.execution.executors import available_cores
from koopsieve.sieve.forms import filled
from koopsieve.sieve.forms.refits import Refitter, default_refits

SYSTEMS = ("lorenz", "duffing", "van-der-pol", "surface-vehicle", "wiener-hammerstein")


@dataclass(frozen=True, eq=False)
class Bench:
    """One problem with everything that is prepared once."""

    problem: Problem
    seed: int
    one_step: bool
    draws: int

    def results(self) -> tuple[list[Row], Choice]:
        problem = self.problem
        phi = problem.recipe().fit(problem.train, seed=0)
        statistics = compress(problem.train, phi, horizons=filled(problem.shown))
        full = self._refitted(statistics, phi)
        plain = LiftedModel.from_estimate(LeastSquares().identify(statistics), phi)
        found = [self._row("all", "everything, least squares", plain, 0.0), self._row("all", "everything", full, 0.0)]
        choice, path = chosen(problem, self.seed)
        found.append(self._row("automatic", "horizon sieve, path", path.choice.model, choice.seconds, path.choice.size))
        pick = self._pickers(statistics)
        swept, took = _timed(lambda: HorizonSieve().sizes(statistics, problem.sizes))
        for size, kept in zip(problem.sizes, swept, strict=True):
            found.append(self._subset(str(size), SIEVE, statistics, phi, kept.retained, took / len(swept)))
            for method, (choose, setup) in pick.items():
                retained, seconds = _timed(lambda: choose(size))  # noqa: B023
                found.append(self._subset(str(size), method, statistics, phi, retained, seconds + setup))
            found.append(self._random(size, statistics, phi))
            found.append(self._fresh_kernels(size))
            model, seconds = _timed(lambda: truncated_svd(statistics, phi, size))  # noqa: B023
            found.append(self._row(str(size), "truncated SVD", model, seconds, size))
        return found, choice

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

    def _subset(self, asked: str, method: str, statistics, phi, retained: np.ndarray, seconds: float) -> Row:
        model = self._refitted(statistics.select(retained), phi.select(retained))
        return self._row(asked, method, model, seconds, len(retained))

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
        states, outputs = problem.train.n_states, problem.train.n_outputs
        begun, found = time.perf_counter(), []
        for width in problem.coefficients:
            phi = problem.recipe(size - outputs - 1, (width,)).fit(problem.train, seed=0)
            phi = phi.select([*range(outputs), *range(states, phi.size)])
            found.append(self._refitter()(compress(problem.train, phi, horizons=filled(problem.shown)), phi))
        best = min(found, key=lambda one: one.errors.score(0.5))
        return self._row(str(size), "fresh k-means kernels", best.model, time.perf_counter() - begun, size)

    def _refitter(self) -> Refitter:
        refits = {"least squares": LeastSquares()} if self.one_step else default_refits()
        return Refitter(self.problem.validation, self.problem.shown, refits)

    def _refitted(self, statistics, dictionary) -> LiftedModel:
        return self._refitter()(statistics, dictionary).model

    def _row(self, asked: str, method: str, model: LiftedModel, seconds: float, size: int | None = None) -> Row:
        problem = self.problem
        error = test_error(model, problem)
        count = len(model.A) if size is None else size
        condition = model.condition_number
        finite = stays_finite(model, problem)
        return Row(problem.name, problem.noise, asked, method, count, error, condition, seconds, finite)


def _timed(work: Callable):
    begun = time.perf_counter()
    return work(), time.perf_counter() - begun


def results_of(case: Case, one_step: bool, draws: int) -> tuple[list[Row], Choice]:
    """Return all that is measured on one case."""
    return Bench(case.problem(), case.seed, one_step, draws).results()


def main() -> None:
    options = _options()
    begun = time.perf_counter()
    levels = options.snr[:1] if options.quick else options.snr
    data = None if options.data is None else Path(options.data)
    todo = list(cases(options.systems, levels, data, 2000 if options.quick else 4000, options.seed))
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # of the processes to come
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.processes, mp_context=spawn) as pool:
        if options.choice:
            print(choice_table(list(pool.map(choice_of, todo))))
        else:
            work = partial(results_of, one_step=options.refit == "one-step", draws=5 if options.quick else 20)
            _report(pool.map(work, todo))
    print(f"\nTook {(time.perf_counter() - begun) / 60:.1f} minutes in {options.processes} processes.")


def _report(results) -> None:
    print(HEAD)
    rows, choices = [], []
    for found, choice in results:
        print("\n".join(row.markdown() for row in found), flush=True)
        rows += found
        choices.append(choice)
    print(f"\n{equal_size_table(rows)}\n\n{choice_table(choices)}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one noise level, half the samples, 5 random draws")
    parser.add_argument("--choice", action="store_true", help="only the automatic choice, no rivals")
    parser.add_argument("--data", type=Path, default=os.environ.get("KOOPSIEVE_DATA"))
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=SYSTEMS)
    parser.add_argument("--snr", nargs="+", type=float, default=[40.0, 20.0])
    parser.add_argument("--seed", nargs="+", type=int, default=[7], help="of the simulated data; several with --choice")
    parser.add_argument("--refit", choices=("best", "one-step"), default="best")
    parser.add_argument("--processes", type=int, default=available_cores())
    options = parser.parse_args()
    if len(options.seed) > 1 and not options.choice:
        parser.error("several seeds go with --choice")
    return options


if __name__ == "__main__":
    main()
