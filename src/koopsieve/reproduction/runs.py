"""One run of each study: a simulated system under measurement noise (paper, 5.1 and 5.2), and the circuit (5.3)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from koopsieve._types import FloatArray, KoopsieveWarning
from koopsieve.data import Trajectories, embed_delays
from koopsieve.evaluate import add_noise
from koopsieve.identify import SpikeSlab, SpikeSlabPrior, Status, UpdateOrder
from koopsieve.reproduction.method_comparison import Sampled, StudyComparison, compare, observables
from koopsieve.reproduction.records import Records
from koopsieve.reproduction.study_settings import SYSTEMS, CircuitStudy, NoiseStudy
from koopsieve.sieve.algorithm_2 import reduce
from koopsieve.systems import HERON, HERON_QUADRATIC, lorenz, random_thrust, surface_vehicle

_VEHICLES = {"heron": HERON, "heron-quadratic": HERON_QUADRATIC}
DAMPINGS = (0.02, 0.1, 0.3, 0.5, 0.9)  # the paper's p_d, which it does not print
_LEAD = 50  # samples until a vehicle started at rest has forgotten it


def run_once(study: NoiseStudy, snr_db: float, run: int, seed: int) -> dict[str, Any]:
    """Simulate, add noise, compare all methods; the answer depends on the arguments alone.

    Parameters
    ----------
    study : NoiseStudy
    snr_db : float
        Level of the measurement noise.
    run : int
        Number of the run at this level.
    seed : int
        Of the whole study.
    """
    entropy = run_seed(study.system, snr_db, run, seed).spawn(5)
    train = _sample(study, study.data["train_seconds"], snr_db, entropy[0], entropy[1])
    test = _sample(study, study.data["test_seconds"], snr_db, entropy[2], entropy[3])
    if not study.data["noisy_test"]:
        test = Sampled(test.true, test.true)
    found = compare(
        train,
        test,
        observables(study.kernels),
        study.methods,
        horizons=study.horizons if snr_db == study.horizon_snr_db else (),
        seed=int(entropy[4].generate_state(1)[0]),
    )
    return {"system": study.system, "snr_db": snr_db, "run": run, "seed": seed, **found.numbers}


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
    found = compare(
        Sampled(records.train, records.train),
        Sampled(records.test, records.test),
        observables(study.kernels),
        study.methods,
        horizons=study.horizons,
        seed=seed,
        flat=True,
    )
    readings = _readings(study, found) if study.methods.as_published else {}
    return {
        "system": study.system,
        "source": records.source,
        **found.numbers,
        "readings": readings,
        "coef": _coefficients(found),
    }


def _readings(study: CircuitStudy, found: StudyComparison) -> dict[str, dict[str, dict[str, int]]]:
    """Return what each reading of Algorithm 1 keeps at several dampings, and how many targets settled."""
    sizes: dict[str, dict[str, dict[str, int]]] = {}
    prior, outputs = SpikeSlabPrior(**asdict(study.methods.prior)), found.statistics.outputs
    for order in UpdateOrder:
        sizes[order.name] = {}
        for relaxation in DAMPINGS:
            method = SpikeSlab.published(prior, relaxation=relaxation, max_sweeps=study.methods.max_sweeps, order=order)
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Algorithm 1 settled", KoopsieveWarning)
                estimate = method.identify(found.statistics)
            kept = len(reduce(estimate.inclusion, outputs, study.methods.threshold).retained)
            settled = estimate.status.count(Status.SETTLED)
            sizes[order.name][f"{relaxation:g}"] = {"kept": kept, "settled": settled}
    return sizes


def _coefficients(found: StudyComparison) -> dict[str, dict[str, list[list[float]]]]:
    def rows(coef: FloatArray) -> list[list[float]]:
        return [[float(value) for value in row] for row in coef]

    return {
        size: {method: rows(estimate.coef) for method, estimate in estimates.items()}
        for size, estimates in found.estimates.items()
    }
