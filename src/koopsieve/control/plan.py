"""What a controller intends: inputs, predicted outputs, cost, and how the search for them ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from koopsieve._types import BoolArray, FloatArray
from koopsieve.control.control_problem import ControlProblem
from koopsieve.control.state_estimate import Situation


class PlanStatus(Enum):
    """How the search for a plan ended; the value is a sentence that also says what to do."""

    SETTLED = "The cost has settled."
    ITERATIONS = "The cost had not settled after `iterations`; the plan can be used. Raise iterations."
    TIME = "The time limit was reached before the cost settled; the plan can be used. Raise time_limit."
    SOLVER = "The solver found no better plan, so the last one goes on. Check the limits and the model."


@dataclass(frozen=True, eq=False)
class Plan:
    """What a controller intends: `controller.plan` after a step.

    Parameters
    ----------
    inputs : array, shape (horizon, moved inputs)
        From now on; the first row is what the step returned.
    outputs : array, shape (horizon, n_outputs)
        Predicted, from the next measurement on.
    cost : float
        Of the plan, as the model predicts it: half the weighted squares, and the price of exceeded limits.
    iterations : int
        Number of quadratic programmes that were solved.
    status : PlanStatus
    acting : array, shape (horizon, l)
        All inputs of the model, measured ones included.
    path : array, shape (horizon + 1, size), optional
        What the model carries at every step; none in the linear form.
    """

    inputs: FloatArray
    outputs: FloatArray
    cost: float
    iterations: int
    status: PlanStatus
    acting: FloatArray
    path: FloatArray | None
    problem: ControlProblem
    now: Situation

    @cached_property
    def outside(self) -> BoolArray | None:
        """Which predictions rest on something beyond the data that the model was learned from, shape (horizon,).

        None if the model does not know its data; models that `sift` returns do.
        """
        model = self.problem.model
        support = None if model.calibration is None else model.calibration.support
        if support is None:
            return None
        found = support.outside(model.dictionary, self.now.line[None], self.acting[None], self.outputs[None])
        return np.asarray(found[0], dtype=bool)
