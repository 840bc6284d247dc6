"""The whole method in one call: compress, infer, reduce, refit, judge (the paper's Sections 4 and 5)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from koopsieve._types import IndexArray
from koopsieve.data import Trajectories
from koopsieve.dictionary import Block, Dictionary
from koopsieve.evaluate import Diagnostics, diagnose, horizon_nmse
from koopsieve.execution import Executor, Progress, silent
from koopsieve.identify import STLSQ, Estimate, Identifier, LeastSquares, SparseBayes, SpikeSlab
from koopsieve.model import LiftedModel, stabilise
from koopsieve.model.stability import ROUNDING
from koopsieve.regression import RegressionStatistics, compress
from koopsieve.sieve import Reduction, Sieve, SievePath, reduce, sieve_path
from koopsieve.sieve.refits import default_refits
from koopsieve.sieve.sieve_path import filled

PATH = "path"  # the method that a path adds


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
    path : SievePath, optional
        How the size was chosen, if it was chosen along a path; the reduction then only tells what drives what.
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
    path: SievePath | None = None

    @property
    def retained(self) -> IndexArray:
        """Indices of the observables that were kept: those of the chosen point of the path, or of the reduction."""
        return self.reduction.retained if self.path is None else self.path.retained

    @property
    def retained_names(self) -> tuple[str, ...]:
        """Names of the observables that were kept."""
        return tuple(self.dictionary.names[i] for i in self.retained)

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
    family: Sieve | None = None,
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
    family : Sieve, optional
        Given, such as `HorizonSieve()`, the size is chosen along the path of this sieve, by errors on a quarter of
        `train`, and a method "path" is added: the refit that the chosen point had. Left out, what is retained are the
        ancestors of the outputs, as in the paper.
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
    bench = _Bench(train if test is None else test, truth, tuple(int(h) for h in horizons))
    looks = () if family is None else filled(bench.horizons)
    with clock.stage("compress"):
        statistics = compress(train, phi, horizons=looks, executor=executor, progress=progress)
    with clock.stage("identify"):
        found = (SpikeSlab() if sieve is None else sieve).identify(statistics)
    with clock.stage("reduce"):
        kept = reduce(found.inclusion, phi.outputs, threshold)
    chosen = paper_methods() if methods is None else dict(methods)
    path = None
    if family is not None:
        with clock.stage("path"):
            path = sieve_path(
                family, train, phi, horizons=bench.horizons, relearn=False, executor=executor, progress=progress
            )
        chosen[PATH] = default_refits()[path.choice.refit]
    retained = kept.retained if path is None else path.retained
    calm = path is not None and path.model.spectral_radius <= 1 + ROUNDING
    jobs = [(size, name) for size in ("full", "reduced") for name in chosen]
    fits: dict[str, dict[str, Fit]] = {"full": {}, "reduced": {}}
    with clock.stage("refit"):
        small, phi_small = statistics.select(retained), phi.select(retained)
        for size, name in progress(jobs, "Refitting", len(jobs)):
            data, lifting = (statistics, phi) if size == "full" else (small, phi_small)
            fits[size][name] = bench.fit(chosen[name], data, lifting, calm and (size, name) == ("reduced", PATH))
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
        path,
    )


@dataclass(frozen=True, eq=False)
class _Bench:
    """Where every fit is judged alike."""

    trajectories: Trajectories
    truth: Trajectories | None
    horizons: tuple[int, ...]

    def fit(self, method: Identifier, statistics: RegressionStatistics, dictionary: Dictionary, calm: bool) -> Fit:
        estimate = method.identify(statistics)
        model = LiftedModel.from_estimate(estimate, dictionary)
        if calm and model.spectral_radius > 1 + ROUNDING:
            model = stabilise(model, statistics)
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
