"""The linear form as model predictive control wants it: all future outputs as one affine function of all inputs."""

from __future__ import annotations

import numpy as np

from koopsieve._types import FloatArray, whole_number
from koopsieve.export.protocols import LinearPredictor


def prediction_matrices(system: LinearPredictor, horizon: int) -> tuple[FloatArray, FloatArray]:
    """Return F and G of Y = F·φ(x[k]) + G·U; see `LiftedModel.prediction_matrices`."""
    steps = whole_number("horizon, the number of steps,", horizon, 1)
    (outputs, _), inputs = system.C.shape, system.B.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        reads = output_powers(system.A, system.C, steps)
        pulses = [power @ system.B for power in reads]  # the Markov parameters
    G = np.zeros((steps * outputs, steps * inputs))
    for h in range(steps):
        for j in range(h + 1):
            G[h * outputs : (h + 1) * outputs, j * inputs : (j + 1) * inputs] = pulses[h - j]
    return np.concatenate(reads[1:]), G


def output_powers(A: FloatArray, C: FloatArray, highest: int) -> list[FloatArray]:
    """Return C, CA, CA², …, CAʰ."""
    powers = [C]
    for _ in range(highest):
        powers.append(powers[-1] @ A)
    return powers
