"""Errors at a few horizons: jumping to them against stepping through all of them, and the memory either takes.

Run with `python benchmarks/horizon_error.py`; read the ratio, not the seconds.
"""

from __future__ import annotations

import time
import tracemalloc
from types import SimpleNamespace

import numpy as np

from koopsieve.data import Trajectories
from koopsieve.dictionary import SquaredExponential, States
from koopsieve.evaluate import horizon_nmse
from koopsieve.evaluate.rollout import horizon_predictions
from koopsieve.forms import LinearModel
from koopsieve.forms.lifted_state import predictions_by_powers

HORIZONS = (1, 10, 50)


def problem(samples, observables, inputs):
    """A stable random model of the asked size and white noise to predict."""
    rng = np.random.default_rng(0)
    x, u = rng.normal(size=(samples, 3)), rng.normal(size=(samples - 1, inputs))
    data = Trajectories.from_arrays(x, u if inputs else None)
    few = Trajectories.from_arrays(x[:3000], u[:2999] if inputs else None)
    phi = (States() + SquaredExponential(centers=observables - 3, coefficients=[0.1])).fit(few)
    coef = 0.99 * np.linalg.qr(rng.normal(size=(observables, observables)))[0]
    coef = np.vstack([coef, rng.normal(size=(inputs, observables))])
    estimate = SimpleNamespace(coef=coef, noise_precision=np.ones(observables), regressors=phi.names + data.input_names)
    return data, LinearModel.from_estimate(estimate, phi)


def seconds(pieces):
    start = time.perf_counter()
    for _ in pieces:
        pass
    return time.perf_counter() - start


def main():
    print("samples observables inputs  jump [s]  step [s]  ratio  peak [MB]")
    for samples, observables, inputs in [(20_000, 100, 0), (80_000, 100, 1), (10_000, 300, 2)]:
        data, model = problem(samples, observables, inputs)
        jump = seconds(predictions_by_powers(model, data, HORIZONS))
        step = seconds(horizon_predictions(model, data, HORIZONS))
        tracemalloc.start()
        horizon_nmse(model, data, HORIZONS)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        print(f"{samples:7} {observables:11} {inputs:6} {jump:9.2f} {step:9.2f} {step / jump:6.1f} {peak:10.0f}")


if __name__ == "__main__":
    main()
