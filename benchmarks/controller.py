"""Closed loops on three plants: linear, Koopman (all candidates, and sifted) and nonlinear model predictive control.

    python -m benchmarks.controller [--seeds 5] [--samples 4000] [--task vehicle]

Every controller minimises the same cost over the same horizon within the same limits, from the same noisy measurements,
and estimates the disturbance that no sensor sees in the same way. The models are learned from the same record. The
nonlinear one knows the plant's equations and is solved by IPOPT: its error counts as 100 %. Means over seeds of the
measurement noise; the time is the median processor time of a step. Rows with a Kalman filter know more of the state;
the last row is the nonlinear controller with the filter's noises of the row before.
"""

import argparse
from dataclasses import dataclass

import numpy as np

from benchmarks.nonlinear_mpc import NonlinearMPC
from koopsieve import Constant, Inputs, Monomials, States, Trajectories, sift
from koopsieve.control import (
    Controller,
    Limits,
    Weights,
    noise_of,
)
from koopsieve.systems import control_tasks, follow

GAIN = 0.2  # of the newest error in the estimate of the disturbance
DEGREES = {"vehicle": (4, 3), "tanks": (5, 5), "reactor": (4, 3)}  # of monomials of states; of states and inputs
FORMS = ("linear", "bilinear", "reprojected")


@dataclass(frozen=True)
class Row:
    name: str
    terms: int
    errors: tuple
    violation: float
    violations: float
    milliseconds: float

    @property
    def error(self):
        return float(np.mean(self.errors))


def measured(task, samples, seed):
    y, u = task.record(samples, seed)
    return Trajectories.from_arrays(y, u, dt=task.dt, state_names=task.outputs, input_names=task.inputs)


def sifted(task, data, form):
    """Sift the candidates in one form."""
    alone, together = DEGREES[task.name]
    candidates = States() + Constant() + Monomials(alone)
    if form == "reprojected":
        candidates = States() + Constant() + Monomials(together, of="states and inputs") + Inputs()
    return sift(data, candidates, form=form, horizons=[1, 5, task.horizon])


def controller(task, model, noise=None):
    weights = Weights(task.output_weights, task.rate_weights)
    limits = Limits(task.input_limits, outputs=task.output_limits)
    return Controller(model.to_qp(task.horizon, weights, limits), noise=noise, gain=GAIN, acting=task.acting)


def measure(name, task, make, terms, seeds):
    runs = [follow(task, make(), seed=1000 + seed) for seed in range(seeds)]
    return Row(
        name,
        terms,
        tuple(run.tracking_error for run in runs),
        max(run.violation for run in runs),
        float(np.mean([run.violations for run in runs])),
        float(np.median(np.concatenate([run.seconds for run in runs])) * 1e3),
    )


def rows(task, samples, seeds):
    """Yield one row per controller."""
    yield measure("nonlinear, the plant's equations", task, lambda: NonlinearMPC(task, GAIN), 0, seeds)
    data, first = measured(task, samples, seed=1), True
    for form in FORMS:
        result = sifted(task, data, form)
        if first:
            first, linear = False, result.baselines["linear"].model
            yield measure("linear", task, lambda model=linear: controller(task, model), len(linear.names), seeds)
        for name, model in (("all candidates", result.baselines["everything"].model), ("sifted", result.model)):
            terms = len(model.dictionary.regressors)
            yield measure(f"{name}, {form}", task, lambda model=model: controller(task, model), terms, seeds)
        kept = result.outcome.kept
        noise = noise_of(result.model, kept)
        yield measure(
            f"sifted, {form}, Kalman filter",
            task,
            lambda model=result.model, noise=noise: controller(task, model, noise),
            terms,
            seeds,
        )
    yield measure("nonlinear, Kalman filter", task, lambda: NonlinearMPC(task, GAIN, noise), 0, seeds)


def table(task, samples, seeds):
    print(f"\n**{task.name}**\n")
    print("| controller | terms | tracking error | of nonlinear | beyond limits, most | share | ms per step |")
    print("|---|---|---|---|---|---|---|")
    limit = None
    for row in rows(task, samples, seeds):
        limit = row.error if limit is None else limit
        print(
            f"| {row.name} | {row.terms or '–'} | {row.error:.5f} | {100 * row.error / limit:.0f} % | "
            f"{row.violation:.4f} | {100 * row.violations:.0f} % | {row.milliseconds:.2f} |",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, help="closed loops per controller")
    parser.add_argument("--samples", type=int, default=4000, help="of the record that models learn from")
    parser.add_argument("--task", help="vehicle, tanks or reactor; all if left out")
    given = parser.parse_args()
    for task in control_tasks():
        if given.task in (None, task.name):
            table(task, given.samples, given.seeds)


if __name__ == "__main__":
    main()
