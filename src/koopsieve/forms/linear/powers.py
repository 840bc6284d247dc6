"""Several steps of a linear model at once, by powers of A.

y[k+h] = C·Aʰ·φ(x[k]) + Σⱼ C·Aʰ⁻¹⁻ʲ·B·u[k+j]. For predictions at a few horizons this carries n_outputs numbers per start
where a step carries L². For model predictive control it is one affine function of all inputs to come.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import matrix_balance

from koopsieve._types import FloatArray, whole_number
from koopsieve.data import Trajectories
from koopsieve.evaluate.rollout import HorizonPredictions, start_slices
from koopsieve.forms.lifted_state import lift

if TYPE_CHECKING:
    from koopsieve.forms.linear.model import LinearModel

STEPS_AT_A_TIME = 25  # of a run, at most
MAX_GROWTH = 100.0  # of the norm of a power: rounding grows with it


def output_powers(A: FloatArray, C: FloatArray, highest: int) -> list[FloatArray]:
    """Return C, CA, CA², …, CAʰ."""
    powers = [C]
    for _ in range(highest):
        powers.append(powers[-1] @ A)
    return powers


def prediction_matrices(A: FloatArray, B: FloatArray, C: FloatArray, horizon: int) -> tuple[FloatArray, FloatArray]:
    """Return F and G of Y = F·φ(x[k]) + G·U; see `LinearModel.prediction_matrices`."""
    steps = whole_number("horizon, the number of steps,", horizon, 1)
    outputs, inputs = len(C), B.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        reads = output_powers(A, C, steps)
        pulses = [power @ B for power in reads]  # the Markov parameters
    G = np.zeros((steps * outputs, steps * inputs))
    for h in range(steps):
        for j in range(h + 1):
            G[h * outputs : (h + 1) * outputs, j * inputs : (j + 1) * inputs] = pulses[h - j]
    return np.concatenate(reads[1:]), G


def runs_by_powers(model: LinearModel, states: FloatArray, acting: FloatArray) -> FloatArray:
    """Return the outputs of runs from states (runs, n) under inputs (runs, steps, l), many steps at a time.

    What is carried goes on by φ[k+s] = Aˢφ[k] + Σⱼ Aˢ⁻¹⁻ʲ·B·u[k+j]; the outputs between are read from φ[k].
    """
    (runs, steps, inputs), n = acting.shape, len(model.C)
    found, carried = np.empty((runs, steps, n)), lift(model.dictionary, states)
    with np.errstate(over="ignore", invalid="ignore"):
        size = max(min(_safe_steps(model.A), steps), 1)
        F, G = prediction_matrices(model.A, model.B, model.C, size)
        pulses = [model.B]
        for _ in range(size - 1):
            pulses.append(model.A @ pulses[-1])
        power, pulled = np.linalg.matrix_power(model.A, size).T, np.hstack(pulses[::-1]).T
        for first in range(0, steps, size):
            block = acting[:, first : first + size].reshape(runs, -1)
            here = min(size, steps - first)
            read, pull = F[: here * n].T, G[: here * n, : here * inputs].T
            found[:, first : first + here] = (carried @ read + block @ pull).reshape(runs, here, n)
            if here == size:
                carried = carried @ power + block @ pulled
    return found


def _safe_steps(A: FloatArray) -> int:
    """Return how many steps may be taken at a time, so that what powers of A grow by on the way loses no digits.

    The matrix is balanced first, so that the units of the observables do not matter.
    """
    if not np.isfinite(A).all():
        return 1
    balanced = matrix_balance(A, permute=False)[0]
    power, steps = balanced, 1
    while steps < STEPS_AT_A_TIME and np.linalg.norm(power := power @ balanced, 1) <= MAX_GROWTH:
        steps += 1
    return steps


def predictions_by_powers(
    model: LinearModel, data: Trajectories, horizons: Sequence[int]
) -> Iterator[HorizonPredictions]:
    """Yield the predictions at `horizons` from every start that has a sample that far ahead."""
    with np.errstate(over="ignore", invalid="ignore"):
        reads = output_powers(model.A, model.C, max(horizons))
        pulses = [power @ model.B for power in reads]
    for episode, part in start_slices(len(model.A), data, min(horizons)):
        x, u = data.states[episode], data.inputs[episode]
        lifted = lift(model.dictionary, x[part])
        for h in horizons:
            rows = min(part.stop, len(x) - h) - part.start
            if rows > 0:
                with np.errstate(over="ignore", invalid="ignore"):
                    predicted = lifted[:rows] @ reads[h].T
                    for j in range(h if u.shape[1] else 0):
                        predicted += u[part.start + j :][:rows] @ pulses[h - 1 - j].T
                yield HorizonPredictions(episode, part.start, h, predicted)


def powers_are_cheaper(model: LinearModel, horizons: Sequence[int]) -> bool:
    """Compare the multiplications per start by powers and step by step."""
    outputs, L = model.C.shape
    inputs = model.B.shape[1]
    return bool(outputs * sum(L + h * inputs for h in horizons) <= max(horizons) * L * (L + inputs))
