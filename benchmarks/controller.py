"""Closed loops on seven plants: models from `sift(data)` and from dictionaries by hand, linear and nonlinear control.

    python -m benchmarks.controller [--seeds 5] [--samples 4000] [--task heater] [--models FOLDER]

Every controller minimises the same cost over the same horizon within the same limits, from the same noisy measurements;
a disturbance that no sensor sees must be estimated. The models are learned from the same record. The bound knows the
plant's equations, its dead time and the states that are not measured, and is solved by IPOPT: its cost counts as one.
Costs are what the controllers minimise, as it happened in the plant, means over seeds of the measurement noise; times
are median and mean processor time of a step. With --models, models are kept in a folder and read from there.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.nonlinear_mpc import NonlinearMPC
from benchmarks.systems.control_plants import unseen_tasks
from koopsieve import Constant, Embedding, Inputs, Model, Monomials, States, Trajectories, sift
from koopsieve.control import Controller, Limits, Weights
from koopsieve.systems import follow, reactor_task, tanks_task, vehicle_task

GAIN = 0.2  # of the newest error, in the bound's estimate of the disturbance
DEGREES = {"vehicle": (4, 3), "tanks": (5, 5), "reactor": (4, 3)}  # of monomials of states; of states and inputs
DELAYS = {"heater": Embedding(1, 5), "four tanks": Embedding(1, 1), "levitation": Embedding(1, 1)}  # made by hand
FORMS = ("linear", "bilinear", "reprojected")


@dataclass(frozen=True)
class Row:
    name: str
    terms: int
    runs: tuple

    def mean(self, what):
        return float(np.mean([getattr(run, what) for run in self.runs]))

    @property
    def error(self):
        return self.mean("tracking_error")

    @property
    def milliseconds(self):
        """Median and mean of a step."""
        seconds = np.concatenate([run.seconds for run in self.runs])
        return 1e3 * float(np.median(seconds)), 1e3 * float(np.mean(seconds))


def measured(task, samples, seed):
    y, u = task.record(samples, seed)
    return Trajectories.from_arrays(y, u, dt=task.dt, state_names=task.outputs, input_names=task.inputs)


def sifted(task, data, form):
    """Sift candidates that were chosen by hand, in one form."""
    alone, together = DEGREES.get(task.name, (3, 3))
    candidates = States() + Constant() + Monomials(alone)
    if form == "reprojected":
        candidates = States() + Constant() + Monomials(together, of="states and inputs") + Inputs()
    delays = DELAYS.get(task.name, Embedding())
    given = {} if delays.trivial else {"delays": delays}
    return sift(data, candidates, form=form, horizons=[1, 5, task.horizon], **given)


def plain_linear(result, data):
    """Return the best plain linear model; with inputs that act after the sample, which is how a controller acts."""
    model = result.baselines["linear"].model
    delays = model.signals.embedding
    if not delays.input_lead:
        return model
    causal = Embedding(delays.state_delays, delays.input_delays)
    return sift(data, States() + Constant(), form="linear", delays=causal).baselines["linear"].model


def models(task, samples, folder):
    """Return models by name: the default's, the linear one with the same delays, and those of dictionaries by hand."""
    found = {}
    if folder is not None:
        found = {path.stem.split("~")[1]: Model.load(path) for path in sorted(folder.glob(f"{task.name}~*.npz"))}
    if found:
        return found
    data = measured(task, samples, seed=1)
    result = sift(data)
    found = {"linear": plain_linear(result, data), f"sift(data), {result.model.form}": result.model}
    for form in FORMS if task.name in DEGREES else ("reprojected",):
        found[f"by hand, {form}"] = sifted(task, data, form).model
    if folder is not None:
        folder.mkdir(exist_ok=True)
        for name, model in found.items():
            model.save(folder / f"{task.name}~{name}.npz")
    return found


def controller(task, model, **options):
    weights = Weights(task.output_weights, task.rate_weights)
    limits = Limits(task.input_limits, outputs=task.output_limits)
    return Controller(model.to_qp(task.horizon, weights, limits), acting=task.acting, **options)


def measure(name, task, make, terms, seeds, whole_state=False):
    runs = (follow(task, make(), seed=1000 + seed, whole_state=whole_state) for seed in range(seeds))
    return Row(name, terms, tuple(runs))


def bound(task, seeds):
    return measure("the plant's equations, IPOPT", task, lambda: NonlinearMPC(task, GAIN), 0, seeds, whole_state=True)


def table(task, samples, seeds, folder):
    print(f"\n**{task.name}**\n")
    print("| model | terms | cost, of the bound's | tracking error | offset | beyond limits | ms per step, mean |")
    print("|---|---|---|---|---|---|---|", flush=True)
    best = bound(task, seeds)
    line(best, best)
    for name, model in models(task, samples, folder).items():
        terms = len(model.dictionary.regressors)
        line(measure(name, task, lambda model=model: controller(task, model), terms, seeds), best)


def line(row, best):
    median, mean = row.milliseconds
    print(
        f"| {row.name} | {row.terms or '–'} | {row.mean('cost') / best.mean('cost'):.2f} | {row.error:.4g} | "
        f"{row.mean('offset'):.2g} | {100 * row.mean('violations'):.0f} % | {median:.2f}, {mean:.2f} |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, help="closed loops per controller")
    parser.add_argument("--samples", type=int, default=4000, help="of the record that models learn from")
    parser.add_argument("--task", help="name of a plant; all if left out")
    parser.add_argument("--models", type=Path, help="folder in which models are kept")
    given = parser.parse_args()
    for task in (*unseen_tasks(), vehicle_task(), tanks_task(), reactor_task()):
        if given.task in (None, task.name):
            table(task, given.samples, given.seeds, given.models)


if __name__ == "__main__":
    main()
