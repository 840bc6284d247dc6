"""The quadratic programme of one step, in the form that OSQP takes.

minimise ½·xᵀPx + qᵀx subject to l ≤ A·x ≤ u, where x holds the inputs over the horizon and then, where outputs have
limits, by how much these are exceeded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray, IndexArray
from koopsieve.control.affine_prediction import AffinePrediction
from koopsieve.control.limits import Limits, Weights


@dataclass(frozen=True, eq=False)
class QuadraticProgramme:
    """Matrices and vectors of one step; P and A are dense arrays here.

    Parameters
    ----------
    P : array, shape (v, v)
    q : array, shape (v,)
    A : array, shape (c, v)
    l, u : array, shape (c,)
    """

    P: FloatArray
    q: FloatArray
    A: FloatArray
    l: FloatArray  # noqa: E741 - OSQP's name
    u: FloatArray


@dataclass(frozen=True, eq=False)
class ProgrammeShape:
    """The parts of the programme that depend on neither state nor reference.

    Parameters
    ----------
    horizon, outputs, inputs : int
    tracking : array, shape (H·n,)
        Weight of every future output.
    rates, efforts : array, shape (l,)
    low, high, steps : array, shape (l,)
        Limits of inputs, and of their change.
    limited : array of int
        Which of the H·n future outputs have limits.
    output_low, output_high, price : array
        Their limits, and the price of exceeding them.
    """

    horizon: int
    outputs: int
    inputs: int
    tracking: FloatArray
    rates: FloatArray
    efforts: FloatArray
    low: FloatArray
    high: FloatArray
    steps: FloatArray
    limited: IndexArray
    output_low: FloatArray
    output_high: FloatArray
    price: FloatArray

    @classmethod
    def of(cls, horizon: int, outputs: int, inputs: int, weights: Weights, limits: Limits) -> ProgrammeShape:
        """Spread weights and limits over the horizon."""
        low, high = limits.input_bounds(inputs)
        output_low, output_high = (np.tile(one, horizon) for one in limits.output_bounds(outputs))
        limited = np.flatnonzero(np.isfinite(output_low) | np.isfinite(output_high))
        return cls(
            horizon,
            outputs,
            inputs,
            np.tile(weights.per_output(outputs), horizon),
            weights.per_rate(inputs),
            weights.per_input(inputs),
            low,
            high,
            limits.rate_bounds(inputs),
            limited,
            output_low[limited],
            output_high[limited],
            np.tile(limits.prices(outputs), horizon)[limited],
        )

    @property
    def moves(self) -> int:
        """Number of inputs over the horizon."""
        return self.horizon * self.inputs

    @property
    def changes(self) -> FloatArray:
        """The matrix D with D·U = (u[k], u[k+1] − u[k], …)."""
        return np.eye(self.moves) - np.eye(self.moves, k=-self.inputs)

    @property
    def rate_limited(self) -> bool:
        """Tell whether any input's change is limited."""
        return bool(np.isfinite(self.steps).any())


def hessian(shape: ProgrammeShape, G: FloatArray) -> FloatArray:
    """Return P: GᵀQG + DᵀSD + R for the inputs (D73), the price for exceeded limits."""
    slack = len(shape.limited)
    P = np.zeros((shape.moves + slack, shape.moves + slack))
    D = shape.changes
    P[: shape.moves, : shape.moves] = (
        (G.T * shape.tracking) @ G
        + (D.T * np.tile(shape.rates, shape.horizon)) @ D
        + np.diag(np.tile(shape.efforts, shape.horizon))
    )
    P[shape.moves :, shape.moves :] = np.diag(shape.price)
    return P


def constraint_matrix(shape: ProgrammeShape, G: FloatArray) -> FloatArray:
    """Return A: rows of inputs, of their changes, and of outputs below, above their limits, and of the excess."""
    slack = len(shape.limited)
    rows = [np.hstack([np.eye(shape.moves), np.zeros((shape.moves, slack))])]
    if shape.rate_limited:
        rows.append(np.hstack([shape.changes, np.zeros((shape.moves, slack))]))
    if slack:
        limited = G[shape.limited]
        rows += [np.hstack([limited, -np.eye(slack)]), np.hstack([limited, np.eye(slack)])]
        rows.append(np.hstack([np.zeros((slack, shape.moves)), np.eye(slack)]))
    return np.vstack(rows)


def gradient(
    shape: ProgrammeShape, prediction: AffinePrediction, reference: FloatArray, previous: FloatArray
) -> FloatArray:
    """Return q: GᵀQ(free − r), what the last input adds through the first change (D73), and the price of excess."""
    q = np.empty(shape.moves + len(shape.limited))
    q[shape.moves :] = shape.price
    q[: shape.moves] = prediction.G.T @ (shape.tracking * (prediction.free - reference.ravel()))
    q[: shape.inputs] -= shape.rates * previous
    return q


def bounds(shape: ProgrammeShape, prediction: AffinePrediction, previous: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return l and u, rows as in `constraint_matrix`.

    The first change counts from the last input, or from the limit that someone else's input was beyond: limits of
    inputs go before limits of their changes, so that there is always an input to take.
    """
    lower, upper = [np.tile(shape.low, shape.horizon)], [np.tile(shape.high, shape.horizon)]
    if shape.rate_limited:
        steps = np.tile(shape.steps, shape.horizon)
        from_previous = np.zeros(shape.moves)
        from_previous[: shape.inputs] = np.clip(previous, shape.low, shape.high)
        lower.append(from_previous - steps)
        upper.append(from_previous + steps)
    if len(shape.limited):
        free, none = prediction.free[shape.limited], np.full(len(shape.limited), np.inf)
        lower += [-none, shape.output_low - free, np.zeros(len(shape.limited))]
        upper += [shape.output_high - free, none, none]
    return np.concatenate(lower), np.concatenate(upper)
