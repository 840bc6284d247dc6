"""One run of each study: a simulated system under measurement noise (paper, 5.1 and 5.2), and the circuit (5.3).

Settings become a dictionary and methods, data become a `MethodComparison`, and that becomes the plain numbers that are
written to disk.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from koopsieve._types import KoopsieveWarning
from koopsieve.data import Trajectories, embed_delays
from koopsieve.dictionary import Block, PeriodicSquaredExponential, SquaredExponential, States
from koopsieve.evaluate import add_noise
from koopsieve.identify import Identifier, LeastSquares, SpikeSlab, Status, UpdateOrder
from koopsieve.reproduction.method_comparison import SIEVE, Errors, MethodComparison, compare_methods, paper_methods
from koopsieve.reproduction.study_settings import (
    SYSTEMS,
    CircuitStudy,
    KernelSettings,
    MethodSettings,
    NoiseStudy,
    Records,
)
from koopsieve.reproduction.study_tables import FULL
from koopsieve.sieve.algorithm_2 import reduce
from koopsieve.systems import HERON, HERON_QUADRATIC, lorenz, random_thrust, surface_vehicle

_VEHICLES = {"heron": HERON, "heron-quadratic": HERON_QUADRATIC}
DAMPINGS = (0.02, 0.1, 0.3, 0.5, 0.9)  # the paper's p_d, which it does not print
_LEAD = 50  # samples until a vehicle started at rest has forgotten it


@dataclass(frozen=True, eq=False)
class Sampled:
    """Trajectories as measured, and the same without the artificial noise (the same object where none was added)."""

    measured: Trajectories
    true: Trajectories


def identifiers(methods: MethodSettings) -> dict[str, Identifier]:
    """Return the methods I to IV, the last by default or with the paper's own updates."""
    cut = LeastSquares(relative_cutoff=methods.pseudo_inverse_cutoff)
    return {**paper_methods(methods.stlsq_threshold, _spike_slab(methods)), "I": cut}


def _spike_slab(methods: MethodSettings) -> Identifier:
    if methods.as_published:
        return SpikeSlab.published(methods.prior, relaxation=methods.relaxation, max_sweeps=methods.max_sweeps)
    return SpikeSlab(prior=methods.prior)


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


def run_once(study: NoiseStudy, snr_db: float, run: int, seed: int) -> dict[str, Any]:
    """Simulate, add noise, compare all methods; the answer depends on study, level, run and seed alone."""
    entropy = run_seed(study.system, snr_db, run, seed).spawn(5)
    train = _sample(study, study.data["train_seconds"], snr_db, entropy[0], entropy[1])
    test = _sample(study, study.data["test_seconds"], snr_db, entropy[2], entropy[3])
    if not study.data["noisy_test"]:
        test = Sampled(test.true, test.true)
    horizons = study.horizons if snr_db == study.horizon_snr_db else ()
    found = _compared(study, train, test, horizons, flat=False, seed=int(entropy[4].generate_state(1)[0]))
    numbers = _numbers(found, study.methods, train, test)
    return {"system": study.system, "snr_db": snr_db, "run": run, "seed": seed, **numbers}


def _compared(
    study: NoiseStudy | CircuitStudy, train: Sampled, test: Sampled, horizons: Sequence[int], *, flat: bool, seed: int
) -> MethodComparison:
    with warnings.catch_warnings():  # how many targets have not settled is among the numbers of every run
        warnings.filterwarnings("ignore", "Algorithm 1 settled", KoopsieveWarning)
        return compare_methods(
            train.measured,
            test.measured,
            observables(study.kernels),
            horizons=horizons,
            threshold=study.methods.threshold,
            methods=identifiers(study.methods),
            flat=flat,
            truth=test.true,
            seed=seed,
        )


def _numbers(found: MethodComparison, methods: MethodSettings, train: Sampled, test: Sampled) -> dict[str, Any]:
    """Return sizes, names retained, errors and condition numbers."""
    one_step = {
        part: found.errors_on(sampled.measured, [1], sampled.true)
        for part, sampled in (("train", train), ("test", test))
    }
    sieve, outputs = found.estimates[FULL][SIEVE], found.dictionary.outputs
    models = found.models
    return {
        "full_size": found.dictionary.size,
        "sizes": {f"{t:g}": len(reduce(sieve.inclusion, outputs, t).retained) for t in methods.thresholds},
        "retained": [found.dictionary.names[i] for i in found.reduction.retained],
        "unsettled": sieve.status.count(Status.MAX_SWEEPS),
        "diverged": sieve.status.count(Status.DIVERGED),
        "one_step": {
            size: {
                name: {
                    part: {state: float(e[0]) for state, e in one_step[part][size][name].items()} for part in one_step
                }
                for name in each
            }
            for size, each in models.items()
        },
        "long_term": {
            size: {name: _plain(errors) for name, errors in each.items()} for size, each in found.errors.items()
        },
        "condition_number": {
            s: {name: model.condition_number for name, model in each.items()} for s, each in models.items()
        },
        "coef_condition_number": {
            size: {name: model.coef_condition_number for name, model in each.items()} for size, each in models.items()
        },
    }


def _plain(errors: Errors) -> dict[str, list[float]]:
    return {state: [float(value) for value in values] for state, values in errors.items()}


def run_seed(system: str, snr_db: float, run: int, seed: int) -> np.random.SeedSequence:
    """Return the source of randomness of one run: a function of system, level and number, not of what ran before."""
    level = round(1000 * snr_db) + 1_000_000  # spawn keys are not negative
    return np.random.SeedSequence(seed, spawn_key=(SYSTEMS.index(system), level, run))


def _sample(
    study: NoiseStudy,
    seconds: float,
    snr_db: float,
    motion: np.random.SeedSequence,
    noise: np.random.SeedSequence,
) -> Sampled:
    clean = simulate(study.data, seconds, motion)
    noisy = add_noise(clean, snr_db, np.random.default_rng(noise))
    delays = study.data["delays"]
    return Sampled(embed_delays(noisy, states=delays), embed_delays(clean, states=delays))


def simulate(data: Mapping[str, Any], seconds: float, entropy: np.random.SeedSequence) -> Trajectories:
    """Return noise-free trajectories of the system that the settings describe."""
    dt = data["dt"]
    if "vehicle" not in data:
        return Trajectories.from_arrays(lorenz(seconds, dt, seed=entropy), dt=dt, state_names=("x", "y", "z"))
    thrust = random_thrust(round(seconds / dt) + _LEAD, data["hold"], entropy)
    states = surface_vehicle(thrust, dt, vehicle=_VEHICLES[data["vehicle"]])
    return Trajectories.from_arrays(
        states[_LEAD:],
        thrust[_LEAD:],
        dt=dt,
        state_names=("surge", "sway", "yaw rate"),
        input_names=("left thrust", "right thrust"),
    )


def run_circuit(study: CircuitStudy, records: Records, seed: int) -> dict[str, Any]:
    """Compare all methods on the records; the numbers, and the coefficient matrices for the heat maps."""
    train, test = Sampled(records.train, records.train), Sampled(records.test, records.test)
    found = _compared(study, train, test, study.horizons, flat=True, seed=seed)
    return {
        "system": study.system,
        "source": records.source,
        **_numbers(found, study.methods, train, test),
        "readings": _readings(study, found) if study.methods.as_published else {},
        "coef": {
            size: {method: estimate.coef.tolist() for method, estimate in each.items()}
            for size, each in found.estimates.items()
        },
    }


def _readings(study: CircuitStudy, found: MethodComparison) -> dict[str, dict[str, dict[str, int]]]:
    """Return what each reading of Algorithm 1 keeps at several dampings, and how many targets settled."""
    return {
        order.name: {f"{relaxation:g}": _kept(study.methods, found, order, relaxation) for relaxation in DAMPINGS}
        for order in UpdateOrder
    }


def _kept(methods: MethodSettings, found: MethodComparison, order: UpdateOrder, relaxation: float) -> dict[str, int]:
    method = SpikeSlab.published(methods.prior, relaxation=relaxation, max_sweeps=methods.max_sweeps, order=order)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Algorithm 1 settled", KoopsieveWarning)
        estimate = method.identify(found.statistics)
    kept = len(reduce(estimate.inclusion, found.dictionary.outputs, methods.threshold).retained)
    return {"kept": kept, "settled": estimate.status.count(Status.SETTLED)}
