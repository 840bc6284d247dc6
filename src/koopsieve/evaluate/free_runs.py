"""Free runs: a model started once and given the inputs only, along stretches spread over a record.

A model that is good at the horizons asked for may still drift away when it is simulated. These errors tell.
"""

from __future__ import annotations

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.data import Trajectories, embedded
from koopsieve.model import Model

MAX_STRETCHES = 16
MAX_STEPS = 1000  # of one run


def free_run(model: Model, state: FloatArray, acting: FloatArray) -> FloatArray:
    """Return the outputs of a run from one state with all delays, one row per row of inputs."""
    run: FloatArray = free_runs(model, state[None], acting[None])[0]
    return run


def free_runs(model: Model, states: FloatArray, acting: FloatArray) -> FloatArray:
    """Return the outputs of several runs, shape (runs, steps, n_outputs), from states (runs, n)."""
    found = np.empty((*acting.shape[:2], len(model.output_names)))
    steps = model.steps(model.start(states), (acting[:, k] for k in range(acting.shape[1])))
    for k, carried in enumerate(steps):
        found[:, k] = model.read(carried)
    return found


def simulation_errors(model: Model, trajectories: Trajectories) -> FloatArray:
    """Return the mean squared error of every run relative to the outputs' variance, mean over the outputs; inf if lost.

    Runs start at places spread evenly over all episodes, at most 16 of them, and are at most 1000 steps long: shorter
    where there are few data, so that the runs together use every sample about once.
    """
    data = embedded(trajectories, model.signals.embedding)
    outputs = len(model.output_names)
    longest = max(len(u) for u in data.inputs)
    total = sum(len(u) for u in data.inputs)
    steps = max(1, min(MAX_STEPS, longest, max(total // MAX_STRETCHES, min(longest, 100))))
    places = [(e, k) for e, u in enumerate(data.inputs) for k in range(0, len(u) - steps + 1, steps)]
    chosen = [places[i] for i in np.unique(np.linspace(0, len(places) - 1, MAX_STRETCHES).round().astype(int))]
    states = np.stack([data.states[e][k] for e, k in chosen])
    acting = np.stack([data.inputs[e][k : k + steps] for e, k in chosen])
    true = np.stack([data.states[e][k + 1 : k + steps + 1, :outputs] for e, k in chosen])
    variance = np.var(np.concatenate([x[:, :outputs] for x in data.states]), axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        gap = (free_runs(model, states, acting) - true) ** 2 / np.where(variance > 0, variance, 1.0)
        errors: FloatArray = gap.mean(axis=(1, 2))
    return np.where(np.isfinite(errors), errors, np.inf)
