"""All future outputs as an affine function of all future inputs: Y = free + G·U.

With Y = (y[k+1], …, y[k+H]) and U = (u[k], …, u[k+H−1]), one after the other. Exact and the same at every step in the
linear form; around a plan of inputs in the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.export.condensed import output_powers, prediction_matrices
from koopsieve.export.protocols import LinearPredictor, Predictor


@dataclass(frozen=True, eq=False)
class AffinePrediction:
    """Y = free + G·U, shapes (H·n,) and (H·n, H·l)."""

    free: FloatArray
    G: FloatArray


@dataclass(frozen=True, eq=False)
class LinearResponse:
    """What predictions in the linear form are made of: Y = F·φ + W·w + G·U, with w added to φ at every step."""

    F: FloatArray
    W: FloatArray
    G: FloatArray

    @classmethod
    def of(cls, system: LinearPredictor, horizon: int) -> LinearResponse:
        """Multiply out the model's matrices."""
        F, G = prediction_matrices(system, horizon)
        reads = np.cumsum(output_powers(system.A, system.C, horizon - 1), axis=0)
        return cls(F, reads.reshape(-1, len(system.A)), G)

    def around(self, carried: FloatArray, disturbance: FloatArray) -> AffinePrediction:
        """Return the prediction from one lifted state, with a constant disturbance of it."""
        return AffinePrediction(self.F @ carried + self.W @ disturbance, self.G)


def around_plan(model: Predictor, carried: FloatArray, disturbance: FloatArray, plan: FloatArray) -> AffinePrediction:
    """Return the prediction linearised along a plan of inputs (H, l).

    S[h+1] = A_h·S[h] + B_h·(U → u_h) is carried forward, where A_h, B_h are the derivatives of step h: rows of G are
    C·S[h] for h = 1, …, H.
    """
    nominal = _nominal(model, carried, disturbance, plan)
    steps = model.jacobians(nominal[:-1], plan)
    H, width = plan.shape
    outputs, size = steps.C.shape
    G = np.empty((H, outputs, H * width))
    sensitivity = np.zeros((size, H * width))
    for h in range(H):
        reached = h * width
        sensitivity[:, :reached] = steps.A[h] @ sensitivity[:, :reached]
        sensitivity[:, reached : reached + width] = steps.B[h]
        G[h] = steps.C @ sensitivity
    flat = G.reshape(H * outputs, H * width)
    return AffinePrediction((nominal[1:] @ steps.C.T).ravel() - flat @ plan.ravel(), flat)


def _nominal(model: Predictor, carried: FloatArray, disturbance: FloatArray, plan: FloatArray) -> FloatArray:
    """Return what is carried at every step of the plan, shape (H + 1, size)."""
    found = np.empty((len(plan) + 1, len(carried)))
    found[0] = carried
    for h, u in enumerate(plan):
        found[h + 1] = model.advance(found[h : h + 1], u[None])[0] + disturbance
    return found
