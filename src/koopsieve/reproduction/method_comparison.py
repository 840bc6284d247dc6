"""One comparison, from trajectories to plain numbers: every method on the full and on the reduced dictionary.

In come training and test data (measured, and true where the truth is known), a dictionary recipe and settings; out goes
a `StudyComparison` of NMSE at one step and at horizons, condition numbers, sizes (paper, Section 5). Calls `sift`
with the paper's sieve and nothing held out: there is nothing to choose.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from koopsieve._types import FloatArray, IndexArray, KoopsieveWarning
from koopsieve.data import Trajectories
from koopsieve.dictionary import Block, PeriodicSquaredExponential, SquaredExponential, States
from koopsieve.evaluate import horizon_nmse
from koopsieve.forms import LinearModel
from koopsieve.identify import STLSQ, Estimate, Identifier, LeastSquares, SparseBayes, SpikeSlab, SpikeSlabPrior, Status
from koopsieve.regression import RegressionStatistics
from koopsieve.reproduction.study_settings import KernelSettings, MethodSettings
from koopsieve.sieve import GraphSieve
from koopsieve.sieve.algorithm_2 import reduce
from koopsieve.sifting.pipeline import sift
from koopsieve.sifting.result import SieveResult

SIEVE = "IV"
FLAT_SIEVE = "IV*"
FULL, REDUCED = "full", "reduced"


def identifiers(methods: MethodSettings) -> dict[str, Identifier]:
    """Return the methods I to IV."""
    return {
        "I": LeastSquares(relative_cutoff=methods.pseudo_inverse_cutoff),
        "II": STLSQ(threshold=methods.stlsq_threshold),
        "III": SparseBayes(),
        SIEVE: spike_slab(methods),
    }


def spike_slab(methods: MethodSettings, *, flat: bool = False) -> Identifier:
    """Return method IV, by default or with the paper's own updates; `flat` is the paper's IV* (e = f = 1)."""
    prior = SpikeSlabPrior(**asdict(methods.prior))
    prior = prior.flat() if flat else prior
    if methods.as_published:
        return SpikeSlab.published(prior, relaxation=methods.relaxation, max_sweeps=methods.max_sweeps)
    return SpikeSlab(prior=prior)


def observables(kernels: Sequence[KernelSettings]) -> Block:
    """Return the states and the blocks of kernels, with different letters for their centres."""
    total: Block = States()
    for kernel, letter in zip(kernels, "zpqrs", strict=False):
        total = total + _block(kernel, letter)
    return total


def _block(kernel: KernelSettings, letter: str) -> Block:
    if kernel.frequencies:
        return PeriodicSquaredExponential(kernel.centers, kernel.coefficients, kernel.frequencies, label=letter)
    return SquaredExponential(kernel.centers, kernel.coefficients, label=letter)


@dataclass(frozen=True, eq=False)
class Sampled:
    """Trajectories as measured, and the same without the artificial noise (the same object where none was added)."""

    measured: Trajectories
    true: Trajectories


@dataclass(frozen=True, eq=False)
class StudyComparison:
    """Results of a comparison as arrays; `numbers` holds those that are written to disk.

    Parameters
    ----------
    names : tuple of str
        Of all observables.
    sizes : mapping from threshold to int
        Number of observables retained at each threshold.
    retained : array of int
        At the main threshold.
    estimates : mapping from "full" and "reduced" to mapping from method to Estimate
    numbers : dict
        Sizes, names retained, errors, condition numbers.
    statistics : RegressionStatistics
        Of the training data.
    """

    names: tuple[str, ...]
    sizes: Mapping[float, int]
    retained: IndexArray
    estimates: Mapping[str, Mapping[str, Estimate]]
    numbers: Mapping[str, Any]
    statistics: RegressionStatistics


def compare(
    train: Sampled,
    test: Sampled,
    recipe: Block,
    methods: MethodSettings,
    *,
    horizons: Sequence[int],
    seed: int,
    flat: bool = False,
) -> StudyComparison:
    """Sift the dictionary by method IV, refit every method on what is left, and measure all of them.

    Parameters
    ----------
    train, test : Sampled
        Predictions start from the measured states; errors are against the true ones.
    recipe : Block
        The dictionary to fit to the training data.
    methods : MethodSettings
    horizons : sequence of int
        Numbers of steps on the test data; may be empty.
    seed : int
        Of the dictionary's k-means.
    flat : bool
        Also refit the reduced dictionary by IV with a flat prior (the paper's IV*).
    """
    known = identifiers(methods)
    with warnings.catch_warnings():  # how many targets have not settled is counted below, for every run
        warnings.filterwarnings("ignore", "Algorithm 1 settled", KoopsieveWarning)
        result = sift(
            train.measured,
            recipe,
            form=LinearModel.form,
            sieve=GraphSieve(known[SIEVE], methods.threshold),
            horizons=horizons or (1,),
            validation=0,
            test=test.measured,
            truth=test.true,
            refits={SIEVE: known[SIEVE]},
            stable=False,
            threshold=methods.threshold,
            compare=known,
            seed=seed,
        )
        fits = _fits(result, methods, flat)
    inclusion, outputs = result.explanation.inclusion, result.dictionary.outputs
    sizes = {t: len(reduce(inclusion, outputs, t).retained) for t in methods.thresholds}
    numbers = {
        "full_size": result.dictionary.size,
        "sizes": {f"{threshold:g}": size for threshold, size in sizes.items()},
        "retained": list(result.retained_names),
        "unsettled": sum(status is Status.MAX_SWEEPS for status in result.explanation.status),
        "diverged": sum(status is Status.DIVERGED for status in result.explanation.status),
        **_measure(fits, train, test, horizons),
    }
    estimates = {size: {name: estimate for name, (estimate, _) in found.items()} for size, found in fits.items()}
    return StudyComparison(result.dictionary.names, sizes, result.retained, estimates, numbers, result.statistics)


Fits = Mapping[str, Mapping[str, tuple[Estimate, LinearModel]]]


def _fits(result: SieveResult, methods: MethodSettings, flat: bool) -> Fits:
    """Return every method's estimate and model, on the full and on the reduced dictionary."""
    found: dict[str, dict[str, Estimate]] = {
        FULL: {name: both.full.estimate for name, both in result.comparison.items()},
        REDUCED: {name: both.reduced.estimate for name, both in result.comparison.items()},
    }
    if flat:
        kept = result.statistics.select(result.retained)
        found[REDUCED][FLAT_SIEVE] = spike_slab(methods, flat=True).identify(kept)
    dictionaries = {FULL: result.dictionary, REDUCED: result.dictionary.select(result.retained)}
    return {
        size: {
            name: (estimate, LinearModel.from_estimate(estimate, dictionaries[size]))
            for name, estimate in estimates.items()
        }
        for size, estimates in found.items()
    }


def _measure(fits: Fits, train: Sampled, test: Sampled, horizons: Sequence[int]) -> dict[str, Any]:
    one_step: dict[str, Any] = {}
    long_term: dict[str, Any] = {}
    conditioning: dict[str, Any] = {}
    whole: dict[str, Any] = {}
    for size, found in fits.items():
        models = {name: model for name, (_, model) in found.items()}
        one_step[size] = {name: _one_step(model, train, test) for name, model in models.items()}
        conditioning[size] = {name: model.condition_number for name, model in models.items()}
        whole[size] = {name: model.coef_condition_number for name, model in models.items()}
        if horizons:
            long_term[size] = {name: _per_state(model, test, horizons) for name, model in models.items()}
    return {
        "one_step": one_step,
        "long_term": long_term,
        "condition_number": conditioning,
        "coef_condition_number": whole,
    }


def _one_step(model: LinearModel, train: Sampled, test: Sampled) -> dict[str, dict[str, float]]:
    return {
        part: {state: values[0] for state, values in _per_state(model, sampled, [1]).items()}
        for part, sampled in (("train", train), ("test", test))
    }


def _per_state(model: LinearModel, sampled: Sampled, horizons: Sequence[int]) -> dict[str, list[float]]:
    errors: Mapping[str, FloatArray] = horizon_nmse(model, sampled.measured, horizons, truth=sampled.true)
    return {state: [float(value) for value in values] for state, values in errors.items()}
