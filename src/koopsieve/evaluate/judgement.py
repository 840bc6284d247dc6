"""Models judged on data that nothing was chosen on: errors at the horizons, and of a free run along each record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from koopsieve._display import Facts, Shown
from koopsieve._types import FloatArray
from koopsieve._words import number
from koopsieve.data import Trajectories, embedded
from koopsieve.evaluate.free_runs import free_run
from koopsieve.evaluate.metrics import horizon_nmse
from koopsieve.model import Model


@dataclass(frozen=True, eq=False, repr=False)
class Errors(Shown):
    """What one model errs on judged data.

    Parameters
    ----------
    nmse : mapping from output to array
        Per horizon.
    simulation_rmse : mapping from output to float
        Of free runs along every episode, from its first rows on, in the output's own units; inf if they diverge.
    """

    nmse: Mapping[str, FloatArray]
    simulation_rmse: Mapping[str, float]

    @property
    def mean(self) -> FloatArray:
        """NMSE per horizon, averaged over the outputs."""
        with np.errstate(over="ignore"):  # errors of a model that diverges add up to infinity
            mean: FloatArray = np.mean(list(self.nmse.values()), axis=0)
        return mean

    @property
    def facts(self) -> Facts:
        """What there is to say, in a few words."""
        run = ", ".join(f"{name} {number(rmse)}" for name, rmse in self.simulation_rmse.items())
        return {"NMSE": ", ".join(map(number, self.mean)), "simulation RMSE": run}

    def _facts(self) -> Facts:
        return self.facts


def judge(model: Model, data: Trajectories, horizons: Sequence[int], truth: Trajectories | None = None) -> Errors:
    """Return a model's errors on data, against `truth` where that is known."""
    return Errors(horizon_nmse(model, data, horizons, truth=truth), simulation_rmse(model, data, truth))


def simulation_rmse(model: Model, data: Trajectories, truth: Trajectories | None = None) -> dict[str, float]:
    """Return the root mean square error of free runs along every episode, per output.

    A run starts from the first state with all its delays, and is given the measured inputs and nothing else.
    """
    embedding = model.signals.embedding
    measured = embedded(data, embedding)
    reference = measured if truth is None else embedded(truth, embedding)
    total, count = np.zeros(len(model.output_names)), 0
    for x, u, true in zip(measured.states, measured.inputs, reference.states, strict=True):
        run = free_run(model, x[0], u)
        with np.errstate(over="ignore", invalid="ignore"):
            total += np.sum((run - true[1:, : len(total)]) ** 2, axis=0)
        count += len(run)
    rmse = np.sqrt(np.where(np.isnan(total), np.inf, total) / max(count, 1))
    return dict(zip(model.output_names, map(float, rmse), strict=True))
