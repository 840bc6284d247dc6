"""Observables chosen in many ways at equal size on one case, every choice with the same refits."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import comb

import numpy as np
from reduction_choice import test_error
from reduction_pruning import (
    group_lasso,
    projected_model,
    quasi_norm_sets,
    row_lassos,
    single_principal_vectors,
    tunable_decomposition,
    worst_predicted_out,
)
from reduction_rivals import (
    graph_of_sparse_bayes,
    graph_of_spike_slab,
    graph_of_stlsq,
    largest_coefficients,
    leading_directions,
    matching_pursuit,
    random_subset,
)
from reduction_rows import ALL, HORIZONS, ONE_STEP, Row
from reduction_systems import Case

from koopsieve import (
    Constant,
    HorizonLeastSquares,
    HorizonSieve,
    LeastSquares,
    LinearModel,
    Monomials,
    States,
    compress,
)
from koopsieve.evaluate import window_errors
from koopsieve.forms.linear.refits import Refitted, Refitter
from koopsieve.forms.task import filled
from koopsieve.identify import Identifier

SIEVE = "horizon sieve"
EMPHASIS = 0.5  # of long horizons in the validation score, as in the path
MAX_MONOMIALS = 300  # from which pqEDMD takes its sets
QUASI_NORMS = (0.5, 0.7, 1.0, 2.0)  # the q of pqEDMD
REFITS: Mapping[str, Identifier] = {ONE_STEP: LeastSquares(), HORIZONS: HorizonLeastSquares()}


@dataclass(frozen=True, eq=False)
class Bench:
    """One case with everything that is prepared once."""

    case: Case
    refits: tuple[str, ...]

    def rows(self) -> list[Row]:
        """Return a row for every size, method and refit."""
        problem = self.case.problem()
        phi = problem.recipe().fit(problem.train, seed=0)
        statistics = compress(problem.train, phi, horizons=filled(problem.shown))
        sizes = problem.sizes(phi.size)
        found = self._subset(ALL, "everything", problem, statistics, phi, np.arange(phi.size), 0.0)
        swept, took = _timed(lambda: HorizonSieve().sizes(statistics, sizes))
        pick = self._pickers(statistics)
        for size, kept in zip(sizes, swept, strict=True):
            common = (problem, statistics, phi)
            found += self._subset(str(size), SIEVE, *common, kept.retained, took / len(swept))
            for method, (choose, setup) in pick.items():
                retained, seconds = _timed(lambda: choose(size))  # noqa: B023
                found += self._subset(str(size), method, *common, retained, seconds + setup / len(sizes))
            found += self._fresh_kernels(size, problem)
            found += self._polynomials(size, problem)
        return found + self._projections(problem, statistics, phi)

    def _pickers(self, statistics) -> dict[str, tuple[Callable[[int], np.ndarray], float]]:
        """Return, per method, a function of the size, and the seconds that its preparation took."""
        rng = np.random.default_rng(11)
        prepared = {
            "multi-step row-wise ℓ1": row_lassos,
            "group lasso": group_lasso,
            "worst predicted out": worst_predicted_out,
            "STLSQ + graph": graph_of_stlsq,
            "SparseBayes + graph": graph_of_sparse_bayes,
            "the paper's sieve": lambda given: graph_of_spike_slab(given, 12),
        }
        return {
            "matching pursuit": (lambda size: matching_pursuit(statistics, size), 0.0),
            "largest coefficients": (lambda size: largest_coefficients(statistics, size), 0.0),
            "random": (lambda size: random_subset(statistics, size, rng), 0.0),
            **{name: _timed(lambda: make(statistics)) for name, make in prepared.items()},  # noqa: B023
        }

    def _subset(self, asked, method, problem, statistics, phi, retained, seconds) -> list[Row]:
        part = (statistics.select(retained), phi.select(retained))
        fits = {name: self._refit(name, problem, *part) for name in self.refits}
        return [self._row(asked, method, name, problem, fit, seconds) for name, fit in fits.items()]

    def _fresh_kernels(self, size, problem) -> list[Row]:
        """The outputs, a constant and kernels clustered anew; the kernel width that validates best."""
        states, outputs = problem.train.n_states, problem.train.n_outputs
        begun, parts = time.process_time(), []
        for width in problem.coefficients:
            phi = problem.recipe(size - outputs - 1, (width,)).fit(problem.train, seed=0)
            phi = phi.select([*range(outputs), *range(states, phi.size)])
            parts.append((compress(problem.train, phi, horizons=filled(problem.shown)), phi))
        return self._best(str(size), "fresh k-means kernels", problem, parts, time.process_time() - begun)

    def _polynomials(self, size, problem) -> list[Row]:
        """The quasi-norm set of pqEDMD that validates best one step ahead; none where the states alone are too many."""
        states = problem.train.n_states
        if states + 1 > size:
            return []
        begun = time.process_time()
        degree = max(d for d in range(2, 9) if d == 2 or comb(states + d, d) <= MAX_MONOMIALS)
        phi = (States() + Constant() + Monomials(degree)).fit(problem.train, seed=0)
        powers = np.array([_powers(name, problem.train.state_names) for name in phi.names])
        sets = {tuple(kept): kept for kept in quasi_norm_sets(powers, size, QUASI_NORMS).values()}
        statistics = compress(problem.train, phi, horizons=filled(problem.shown))
        parts = [(statistics.select(kept), phi.select(kept)) for kept in sets.values()]
        best = min(parts, key=lambda part: self._refit(ONE_STEP, problem, *part).errors.score(EMPHASIS))
        return self._best(str(size), "pqEDMD polynomials", problem, [best], time.process_time() - begun)

    def _best(self, asked, method, problem, parts, seconds) -> list[Row]:
        """Return, per refit, the row of the dictionary that validates best."""
        rows = []
        for name in self.refits:
            fits = [self._refit(name, problem, *part) for part in parts]
            best = min(fits, key=lambda fit: fit.errors.score(EMPHASIS))
            rows.append(self._row(asked, method, name, problem, best, seconds))
        return rows

    def _projections(self, problem, statistics, phi) -> list[Row]:
        """Return the methods that keep a subspace and no subset; they are fitted one step ahead."""
        if ONE_STEP not in self.refits:
            return []
        rows = []
        for method, make in {
            "truncated SVD (subspace)": leading_directions,
            "T-SSD (subspace)": tunable_decomposition,
            "single principal vectors (subspace)": single_principal_vectors,
        }.items():
            choose, setup = _timed(lambda: make(statistics))  # noqa: B023
            for size in (sizes := problem.sizes(phi.size)):
                basis, seconds = _timed(lambda: choose(size))  # noqa: B023
                model = projected_model(statistics, phi, basis)
                fit = Refitted(model, window_errors(model, problem.validation, problem.shown), ONE_STEP, "")
                row = self._row(str(size), method, ONE_STEP, problem, fit, seconds + setup / len(sizes))
                rows.append(replace(row, kept=basis.shape[1]))
        return rows

    def _refit(self, name: str, problem, statistics, dictionary) -> Refitted:
        return Refitter(problem.validation, problem.shown, {name: REFITS[name]})(statistics, dictionary)

    def _row(self, asked: str, method: str, refit: str, problem, fit: Refitted, seconds: float) -> Row:
        model: LinearModel = fit.model
        return Row(
            *self.case.key,
            asked=asked,
            method=method,
            refit=refit,
            kept=len(model.A),
            error=tuple(test_error(model, problem).tolist()),
            score=fit.errors.score(EMPHASIS),
            condition=float(model.condition_number),
            seconds=seconds,
        )


def _powers(name: str, states: tuple[str, ...]) -> list[int]:
    """Return the exponents of a monomial from its name."""
    powers = dict.fromkeys(states, 0)
    for factor in [] if name == "1" else name.split(" "):
        state, _, power = factor.partition("^")
        powers[state] = int(power or 1)
    return list(powers.values())


def _timed(work: Callable):
    begun = time.process_time()
    return work(), time.process_time() - begun
