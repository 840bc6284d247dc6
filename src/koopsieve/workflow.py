"""The whole method in one call: compress, infer, reduce, refit, judge (the paper's Sections 4 and 5)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from koopsieve.data import Trajectories
from koopsieve.diagnostics import Diagnostics, diagnose
from koopsieve.dictionary import Block, Dictionary
from koopsieve.execution import Executor, Progress, silent
from koopsieve.identify import STLSQ, Estimate, Identifier, LeastSquares, SparseBayes, SpikeSlab
from koopsieve.metrics import horizon_nmse
from koopsieve.model import LiftedModel
from koopsieve.reduction import Reduction, reduce
from koopsieve.regression import RegressionStatistics, compress


def paper_methods() -> dict[str, Identifier]:
    """Return the paper's methods I to IV: pseudo-inverse, thresholded least squares, sparse Bayes, spike and slab."""
    return {"I": LeastSquares(), "II": STLSQ(), "III": SparseBayes(), "IV": SpikeSlab()}


@dataclass(frozen=True, eq=False)
class Fit:
    """One method on one dictionary."""

    estimate: Estimate
    model: LiftedModel
    diagnostics: Diagnostics


@dataclass(frozen=True, eq=False)
class SieveResult:
    """What sifting a dictionary gave.

    Parameters
    ----------
    dictionary : Dictionary
        The full one.
    statistics : RegressionStatistics
        Of the training data, for the full dictionary; enough to refit with anything else.
    found : Estimate
        The inclusion probabilities that decided.
    reduction : Reduction
        Which observables are retained, and the graph behind it.
    full, reduced : mapping from method to Fit
        Every method on the full and on the reduced dictionary.
    horizons : tuple of int
        Steps ahead at which errors are given.
    judged_on : str
        "test", "held-out" or "training": which trajectories the errors are of.
    seconds : mapping from stage to float
        Time taken.
    seed : int
        The seed that fitted the dictionary.
    judged : Trajectories
        The trajectories the errors are of, to show predictions beside what was measured.
    """

    dictionary: Dictionary
    statistics: RegressionStatistics
    found: Estimate
    reduction: Reduction
    full: Mapping[str, Fit]
    reduced: Mapping[str, Fit]
    horizons: tuple[int, ...]
    judged_on: str
    seconds: Mapping[str, float]
    seed: int
    judged: Trajectories

    @property
    def retained_names(self) -> tuple[str, ...]:
        """Names of the observables that were kept."""
        return tuple(self.dictionary.names[i] for i in self.reduction.retained)

    @property
    def best(self) -> str:
        """The method whose reduced model errs least at the longest horizon."""
        longest = int(np.argmax(self.horizons))
        errors = {name: fit.diagnostics.mean_error[longest] for name, fit in self.reduced.items()}
        return min(errors, key=lambda name: np.nan_to_num(errors[name], nan=np.inf))

    @property
    def model(self) -> LiftedModel:
        """The reduced model of the best method."""
        return self.reduced[self.best].model


def reduce_and_refit(
    train: Trajectories,
    dictionary: Block | Dictionary,
    *,
    test: Trajectories | None = None,
    truth: Trajectories | None = None,
    sieve: Identifier | None = None,
    threshold: float = 0.1,
    methods: Mapping[str, Identifier] | None = None,
    horizons: Sequence[int] = (1, 10, 50),
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress = silent,
) -> SieveResult:
    """Sift a dictionary and fit models on all of it and on what is kept.

    Parameters
    ----------
    train : Trajectories
        What the models learn from.
    dictionary : Block or Dictionary
        A recipe is fitted to `train`.
    test : Trajectories, optional
        What errors are measured on; by default `train`.
    truth : Trajectories, optional
        `test` without measurement noise, to compare predictions with.
    sieve : Identifier, optional
        Gives the inclusion probabilities; by default `SpikeSlab()`.
    threshold : float
        Inclusion from which one observable counts as driving another.
    methods : mapping from name to Identifier, optional
        What to refit with; by default the paper's I to IV.
    horizons : sequence of int
        Steps ahead at which to measure.
    seed : int
        Fits the dictionary.
    executor, progress
        See `compress`.

    Returns
    -------
    SieveResult
    """
    clock = _Clock()
    with clock.stage("dictionary"):
        phi = dictionary.fit(train, seed=seed) if isinstance(dictionary, Block) else dictionary
    with clock.stage("compress"):
        statistics = compress(train, phi, executor=executor, progress=progress)
    with clock.stage("identify"):
        found = (SpikeSlab() if sieve is None else sieve).identify(statistics)
    with clock.stage("reduce"):
        kept = reduce(found.inclusion, phi.outputs, threshold)
    chosen = paper_methods() if methods is None else dict(methods)
    bench = _Bench(train if test is None else test, truth, tuple(int(h) for h in horizons))
    jobs = [(size, name) for size in ("full", "reduced") for name in chosen]
    fits: dict[str, dict[str, Fit]] = {"full": {}, "reduced": {}}
    with clock.stage("refit"):
        small, phi_small = statistics.select(kept.retained), phi.select(kept.retained)
        for size, name in progress(jobs, "Refitting", len(jobs)):
            data, lifting = (statistics, phi) if size == "full" else (small, phi_small)
            fits[size][name] = bench.fit(chosen[name], data, lifting)
    return SieveResult(
        phi,
        statistics,
        found,
        kept,
        fits["full"],
        fits["reduced"],
        bench.horizons,
        "training" if test is None else "test",
        clock.seconds,
        seed,
        bench.trajectories,
    )


@dataclass(frozen=True, eq=False)
class _Bench:
    """Where every fit is judged alike."""

    trajectories: Trajectories
    truth: Trajectories | None
    horizons: tuple[int, ...]

    def fit(self, method: Identifier, statistics: RegressionStatistics, dictionary: Dictionary) -> Fit:
        estimate = method.identify(statistics)
        model = LiftedModel.from_estimate(estimate, dictionary, dt=self.trajectories.dt)
        error = horizon_nmse(model, self.trajectories, self.horizons, truth=self.truth)
        return Fit(estimate, model, diagnose(model, statistics, self.horizons, error))


@dataclass(frozen=True)
class _Clock:
    """Seconds per stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - begun
