"""All future outputs as an affine function of all future inputs: Y = free + G·U; and simulation of many plans at once.

With Y = (y[k+1], …, y[k+H]) and U = (u[k], …, u[k+H−1]), one after the other. Exact and the same at every step in the
linear form; around a plan of inputs in the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.forms import Linearisation, Model
from koopsieve.forms.lifted_state import output_powers, prediction_matrices


@dataclass(frozen=True, eq=False)
class AffinePrediction:
    """Y = free + G·U, shapes (H·n,) and (H·n, H·l)."""

    free: FloatArray
    G: FloatArray

    def outputs(self, plan: FloatArray) -> FloatArray:
        """Return the outputs (H, n) under a plan (H, l)."""
        found: FloatArray = (self.free + self.G @ plan.ravel()).reshape(len(plan), -1)
        return found


@dataclass(frozen=True, eq=False)
class PathPrediction(AffinePrediction):
    """The same along a path, with what is carried at every step: z[k+h] = drift[h] + pull[h]·U, h = 0, …, H."""

    drift: FloatArray  # (H + 1, size)
    pull: FloatArray  # (H + 1, size, H·l)
    A: FloatArray  # (H, size, size): the slopes of the steps

    def path(self, plan: FloatArray) -> FloatArray:
        """Return what is carried at every step under a plan (H, l)."""
        return self.drift + self.pull @ plan.ravel()

    def corrected(self, model: Model, plan: FloatArray, disturbance: FloatArray) -> FloatArray:
        """Return the path of a plan with what the linearisation missed: a Newton step towards the model.

        With δ_h = f(z_h, u_h) + w − z_{h+1}, the errors e_{h+1} = A_h·e_h + δ_h are added (D87). All steps of the model
        are computed at once, which takes a small part of the time of a simulation.
        """
        path = self.path(plan)
        missed = model.advance(path[:-1], plan) + disturbance - path[1:]
        for h in range(1, len(plan)):
            missed[h] += self.A[h] @ missed[h - 1]
        path[1:] += missed
        return path


@dataclass(frozen=True, eq=False)
class LinearResponse:
    """What predictions in the linear form are made of: Y = F·φ + W·w + G·U, with w added to φ at every step (D71)."""

    F: FloatArray
    W: FloatArray
    G: FloatArray

    @classmethod
    def of(cls, step: Linearisation, horizon: int) -> LinearResponse:
        """Multiply out the matrices of a step that is linear everywhere."""
        F, G = prediction_matrices(step.A, step.B, step.C, horizon)
        reads = np.cumsum(output_powers(step.A, step.C, horizon - 1), axis=0)
        return cls(F, reads.reshape(-1, len(step.A)), G)

    def around(self, carried: FloatArray, disturbance: FloatArray) -> AffinePrediction:
        """Return the prediction from one lifted state, with a constant disturbance of it."""
        return AffinePrediction(self.F @ carried + self.W @ disturbance, self.G)


def linearised_prediction(
    model: Model, carried: FloatArray, disturbance: FloatArray, plan: FloatArray, path: FloatArray | None = None
) -> PathPrediction:
    """Return the prediction linearised along a plan of inputs (H, l) and a path of what is carried (H + 1, size).

    Without a path it is the one that the model takes under the plan. With one, nothing is simulated: all steps are
    linearised at once, and where the path is not one that the model takes, their offsets carry the difference.
    z[h+1] = A_h·z[h] + B_h·u_h + offset_h + w, with z as an affine function of U (D72). Where the model holds an output
    at a bound, the slope is the one that it would have without: a plan that went too far finds its way back.
    """
    nominal = simulated(model, carried, disturbance, plan[None])[0] if path is None else path.copy()
    nominal[0] = carried
    steps = model.unheld_jacobians(nominal[:-1], plan)
    H, width = plan.shape
    drift, pull = np.empty((H + 1, len(carried))), np.zeros((H + 1, len(carried), H * width))
    drift[0], offsets = carried, steps.offset + disturbance
    for h in range(H):
        drift[h + 1] = steps.A[h] @ drift[h] + offsets[h]
        np.matmul(steps.A[h], pull[h], out=pull[h + 1])  # zeros too: whole matrices are multiplied faster than parts
        pull[h + 1, :, h * width : (h + 1) * width] = steps.B[h]
    free, G = drift[1:] @ steps.C.T, steps.C @ pull[1:]
    return PathPrediction(free.ravel(), G.reshape(-1, H * width), drift, pull, steps.A)


def simulated(model: Model, carried: FloatArray, disturbance: FloatArray, plans: FloatArray) -> FloatArray:
    """Return what is carried at every step of each plan (plans, H, l), shape (plans, H + 1, size)."""
    found = np.empty((len(plans), plans.shape[1] + 1, len(carried)))
    found[:, 0] = carried
    for h in range(plans.shape[1]):
        found[:, h + 1] = model.advance(found[:, h], plans[:, h]) + disturbance
    return found
