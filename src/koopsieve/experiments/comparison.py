"""One comparison, from trajectories to plain numbers: every method on the full and on the reduced dictionary.

In come training and test data (measured, and true where the truth is known), a dictionary recipe and settings; out goes
a `Comparison` of NMSE at one step and at horizons, condition numbers, sizes (paper, Section 5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from koopsieve._types import FloatArray, IndexArray
from koopsieve.data import Trajectories
from koopsieve.dictionary import Block, Dictionary
from koopsieve.evaluate import horizon_nmse
from koopsieve.experiments.methods import FLAT_SIEVE, SIEVE, identifiers, spike_slab
from koopsieve.experiments.settings import MethodSettings
from koopsieve.identify import Estimate, Status
from koopsieve.model import LiftedModel
from koopsieve.regression import RegressionStatistics, compress
from koopsieve.sieve import reduce

FULL, REDUCED = "full", "reduced"


@dataclass(frozen=True, eq=False)
class Sampled:
    """Trajectories as measured, and the same without the artificial noise (the same object where none was added)."""

    measured: Trajectories
    true: Trajectories


@dataclass(frozen=True, eq=False)
class Comparison:
    """What a comparison found, as arrays; `numbers` gives what is written to disk.

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
    """

    names: tuple[str, ...]
    sizes: Mapping[float, int]
    retained: IndexArray
    estimates: Mapping[str, Mapping[str, Estimate]]
    numbers: Mapping[str, Any]


def compare(
    train: Sampled,
    test: Sampled,
    recipe: Block,
    methods: MethodSettings,
    *,
    horizons: Sequence[int],
    seed: int,
    flat: bool = False,
) -> Comparison:
    """Sift the dictionary by method IV, refit every method on what is left, and measure all of them.

    Parameters
    ----------
    train, test : Sampled
        Predictions start from the measured states; errors are against the true ones.
    recipe : Block
        The dictionary to fit to the training data.
    methods : MethodSettings
    horizons : sequence of int
        Steps ahead on the test data; may be empty.
    seed : int
        Of the dictionary's k-means.
    flat : bool
        Also refit the reduced dictionary by IV with a flat prior (the paper's IV*).
    """
    phi = recipe.fit(train.measured, seed=seed)
    statistics = compress(train.measured, phi)
    full = {name: method.identify(statistics) for name, method in identifiers(methods).items()}
    kept = {
        threshold: reduce(full[SIEVE].inclusion, phi.outputs, threshold).retained
        for threshold in {*methods.thresholds, methods.threshold}
    }
    retained = kept[methods.threshold]
    estimates = {FULL: full, REDUCED: _refit(statistics.select(retained), methods, flat)}
    dictionaries = {FULL: phi, REDUCED: phi.select(retained)}
    sizes = {threshold: len(kept[threshold]) for threshold in methods.thresholds}
    numbers = {
        "full_size": phi.size,
        "sizes": {f"{threshold:g}": size for threshold, size in sizes.items()},
        "retained": [phi.names[i] for i in retained],
        "unsettled": sum(status is Status.MAX_SWEEPS for status in full[SIEVE].status),
        **_measure(estimates, dictionaries, train, test, horizons),
    }
    return Comparison(phi.names, sizes, retained, estimates, numbers)


def _refit(statistics: RegressionStatistics, methods: MethodSettings, flat: bool) -> dict[str, Estimate]:
    found = {name: method.identify(statistics) for name, method in identifiers(methods).items()}
    if flat:
        found[FLAT_SIEVE] = spike_slab(methods, flat=True).identify(statistics)
    return found


def _measure(
    estimates: Mapping[str, Mapping[str, Estimate]],
    dictionaries: Mapping[str, Dictionary],
    train: Sampled,
    test: Sampled,
    horizons: Sequence[int],
) -> dict[str, Any]:
    one_step: dict[str, Any] = {}
    long_term: dict[str, Any] = {}
    conditioning: dict[str, Any] = {}
    for size, found in estimates.items():
        models = {name: LiftedModel.from_estimate(estimate, dictionaries[size]) for name, estimate in found.items()}
        one_step[size] = {name: _one_step(model, train, test) for name, model in models.items()}
        conditioning[size] = {name: model.condition_number for name, model in models.items()}
        if horizons:
            long_term[size] = {name: _per_state(model, test, horizons) for name, model in models.items()}
    return {"one_step": one_step, "long_term": long_term, "condition_number": conditioning}


def _one_step(model: LiftedModel, train: Sampled, test: Sampled) -> dict[str, dict[str, float]]:
    return {
        part: {state: values[0] for state, values in _per_state(model, sampled, [1]).items()}
        for part, sampled in (("train", train), ("test", test))
    }


def _per_state(model: LiftedModel, sampled: Sampled, horizons: Sequence[int]) -> dict[str, list[float]]:
    errors: Mapping[str, FloatArray] = horizon_nmse(model, sampled.measured, horizons, truth=sampled.true)
    return {state: [float(value) for value in values] for state, values in errors.items()}
