"""The model as model predictive control wants it: all future outputs as one affine function of all future inputs."""

from __future__ import annotations

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.model.direct import output_powers
from koopsieve.model.histories import checked_horizon
from koopsieve.model.system import System


def prediction_matrices(system: System, horizon: int) -> tuple[FloatArray, FloatArray]:
    """Return F and G of Y = F·φ(x[k]) + G·U; see `LiftedModel.prediction_matrices`."""
    steps = checked_horizon(horizon)
    (outputs, _), inputs = system.C.shape, system.B.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        reads = output_powers(system.A, system.C, steps)
        pulses = [power @ system.B for power in reads]  # the Markov parameters
    G = np.zeros((steps * outputs, steps * inputs))
    for h in range(steps):
        for j in range(h + 1):
            G[h * outputs : (h + 1) * outputs, j * inputs : (j + 1) * inputs] = pulses[h - j]
    return np.concatenate(reads[1:]), G
