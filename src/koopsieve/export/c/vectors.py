"""Test vectors: points, and what the model answers there, to compare a compiled model with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.dictionary.kernels import Kernels
from koopsieve.export.protocols import LiftedStep, Predictor, ReprojectedStep, step_of

POINTS, RUN = 5, 10  # how many points are compared, and how many steps of a free run


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


def vectors_of(model: Predictor, seed: int = 0) -> Vectors:
    """Return the model's answers at random points where its functions are not all zero."""
    low, high = _range(model)
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


def _range(model: Predictor) -> tuple[FloatArray, FloatArray]:
    """Return between which values points are drawn: a little beyond the data where the model knows them."""
    n, width = len(model.signals.state_names), len(model.signals.inputs)
    low, high = -np.ones(n + width), np.ones(n + width)
    step = step_of(model)
    if isinstance(step, ReprojectedStep):
        region = model.arrays()["region"]
        beyond = 0.2 * np.ptp(region, axis=0)
        return region[0] - beyond, region[1] + beyond
    for family in model.dictionary.families:
        if isinstance(family, Kernels):
            centers = family.centers * family.scale
            low[:n], high[:n] = centers.min(axis=0), centers.max(axis=0)
    return low, high


def _run(model: Predictor, outputs: FloatArray, inputs: FloatArray) -> tuple[FloatArray, float]:
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


def step_size(model: Predictor, carried: FloatArray, inputs: FloatArray) -> float:
    """Return the largest sum of absolute values that a step adds up."""
    step, z, u = step_of(model), np.abs(carried), np.abs(inputs)
    if isinstance(step, LiftedStep):
        products = np.einsum("pk,kij,pj->pi", u[:, : len(step.N)], np.abs(step.N), z)
        return _largest(z @ np.abs(step.A).T + u @ np.abs(step.B).T + products)
    points = np.hstack([carried, inputs])
    return max(_largest(np.abs(model.dictionary.evaluate(points)) @ np.abs(step.coef)), _largest(z))


def _linearised(model: Predictor, carried: FloatArray, inputs: FloatArray) -> Expected:
    found, step = model.jacobians(carried, inputs), step_of(model)
    flat = np.hstack([found.A.reshape(POINTS, -1), found.B.reshape(POINTS, -1), found.offset])
    size = max(_largest(flat), step_size(model, carried, inputs))
    if isinstance(step, ReprojectedStep):
        points = np.hstack([carried, inputs])
        slopes = np.abs(model.dictionary.gradient(points))
        size = max(size, _largest(np.einsum("ptd,tc->pcd", slopes, np.abs(step.coef))))
    return Expected(flat, size)


def _largest(values: FloatArray) -> float:
    return float(np.abs(values).max(initial=0.0))
