"""Test vectors: points, and what the model answers there, to compare a compiled model with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.forms import Model
from koopsieve.forms.reprojected.model import widened

POINTS, RUN = 5, 10  # points that are compared, and steps of a free run


@dataclass(frozen=True, eq=False)
class Expected:
    """Values to be met, and the size of the largest sum behind them, of which rounding is a fraction."""

    values: FloatArray
    size: float


@dataclass(frozen=True, eq=False)
class Vectors:
    """Points, a record, and the model's answers.

    Parameters
    ----------
    states, inputs : array, shape (points, n), (points, l)
    carried : array, shape (points, carried)
    outputs, record_inputs : array
        First rows of a record, and its inputs.
    lift, step, linearise, simulate : Expected
        Observables; what is carried next; A, B and offset one after the other per point; the outputs of the record.
    """

    states: FloatArray
    inputs: FloatArray
    carried: FloatArray
    outputs: FloatArray
    record_inputs: FloatArray
    lift: Expected
    step: Expected
    linearise: Expected
    simulate: Expected


def vectors_of(model: Model, seed: int = 0) -> Vectors:
    """Return the model's answers at random points where its functions are not all zero."""
    low, high = widened(model.working_range(), 0.2)
    n, embedding = len(model.signals.state_names), model.signals.embedding
    rng = np.random.default_rng(seed)
    points = rng.uniform(low, high, size=(POINTS, len(low)))
    states, inputs = points[:, :n], points[:, n:]
    width, history = len(model.signals.outputs), embedding.history
    outputs = rng.uniform(low[:width], high[:width], size=(history, width))
    record_inputs = rng.uniform(low[n:], high[n:], size=(history + RUN, len(low) - n))
    carried = model.start(states)
    lifted = model.dictionary(states)
    simulated, largest = _run(model, outputs, record_inputs)
    return Vectors(
        states, inputs, carried, outputs, record_inputs,
        lift=Expected(lifted, _largest(lifted)),
        step=Expected(model.advance(carried, inputs), step_size(model, carried, inputs)),
        linearise=_linearised(model, carried, inputs),
        simulate=Expected(simulated, largest),
    )  # fmt: skip


def _run(model: Model, outputs: FloatArray, inputs: FloatArray) -> tuple[FloatArray, float]:
    """Return a free run, and the largest sum in it."""
    embedding = model.signals.embedding
    padded = np.vstack([outputs, np.zeros((embedding.ahead, outputs.shape[1]))])  # embed drops it again
    state = embedding.embed(padded, inputs[: len(padded) - 1])[0][0]
    carried, found, largest = model.start(state[None]), [], 0.0
    for k in range(RUN):
        u = inputs[None, embedding.history - 1 + embedding.ahead + k]
        largest = max(largest, step_size(model, carried, u))
        carried = model.advance(carried, u)
        found.append(model.read(carried)[0])
    return np.array(found), largest


def step_size(model: Model, carried: FloatArray, inputs: FloatArray) -> float:
    """Return the largest sum of absolute values that a step adds up."""
    step, points = model.step_map(), np.hstack([carried, inputs])
    return max(_largest(np.abs(step.terms(points)) @ np.abs(step.weights).T), _largest(carried))


def _linearised(model: Model, carried: FloatArray, inputs: FloatArray) -> Expected:
    found, step, points = model.jacobians(carried, inputs), model.step_map(), np.hstack([carried, inputs])
    flat = np.hstack([found.A.reshape(POINTS, -1), found.B.reshape(POINTS, -1), found.offset])
    slopes = np.einsum("ptd,ct->pcd", np.abs(step.slopes(points)), np.abs(step.weights))
    largest = max(_largest(flat), _largest(slopes), _largest(slopes @ np.abs(points)[:, :, None]))
    return Expected(flat, max(largest, step_size(model, carried, inputs)))


def _largest(values: FloatArray) -> float:
    return float(np.abs(values).max(initial=0.0))
