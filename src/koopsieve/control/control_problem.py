"""The control problem of a model: what `Model.to_qp` returns, and what controllers are made of, and the plan."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import BoolArray, FloatArray, IndexArray, KoopsieveError, require_kind, whole_number
from koopsieve.control.limits import Limits, Weights, per_signal, rows_of, shaped
from koopsieve.control.prediction_matrices import AffinePrediction, LinearResponse, linearised_prediction
from koopsieve.control.programme import Cost, QuadraticProgramme, bounds, constraint_matrix, gradient, hessian
from koopsieve.control.state_estimate import Situation
from koopsieve.forms import Model


@dataclass(frozen=True, eq=False)
class ControlProblem:
    """Follow a reference over a horizon, within limits: a quadratic programme per step.

    In the linear form it is built once, and only vectors change from step to step. In the other forms it is built
    around the inputs planned last.

    Parameters
    ----------
    model : Model
        With inputs.
    horizon : int
        Number of steps.
    weights : Weights
    limits : Limits
    measured_inputs : tuple of str
        Inputs of the model that are measured and not moved: a measured disturbance, such as the temperature outside.
        Weights, limits and plans are those of the other inputs.

    Raises
    ------
    KoopsieveError
        If the model has no inputs to move, or weights and limits do not fit its signals.
    """

    model: Model
    horizon: int
    weights: Weights = field(default_factory=Weights)
    limits: Limits = field(default_factory=Limits)
    measured_inputs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        inputs = self.model.signals.inputs
        if not inputs:
            raise KoopsieveError("The model has no inputs, so there is nothing to control.")
        measured = (self.measured_inputs,) if isinstance(self.measured_inputs, str) else tuple(self.measured_inputs)
        object.__setattr__(self, "measured_inputs", measured)
        if not set(measured) < set(inputs) or len(set(measured)) < len(measured):
            raise KoopsieveError(
                f"measured_inputs must be some of the inputs, not all. Expected names out of {', '.join(inputs)}, got "
                f"{', '.join(map(str, measured))}."
            )
        whole_number("horizon, the number of steps,", self.horizon, 1)
        require_kind("weights= as Weights", self.weights, Weights, "Write Weights(outputs=1.0, rates=0.1).")
        require_kind("limits= as Limits", self.limits, Limits, "Write Limits(inputs=(-1.0, 1.0)).")
        _ = self.cost  # so that settings that do not fit show here

    @cached_property
    def pinned(self) -> IndexArray:
        """Places of the measured inputs among all."""
        return np.array([self.model.signals.inputs.index(name) for name in self.measured_inputs], dtype=np.intp)

    @cached_property
    def moved(self) -> IndexArray:
        """Places of the other inputs."""
        return np.setdiff1d(np.arange(len(self.model.signals.inputs)), self.pinned)

    @property
    def moved_names(self) -> tuple[str, ...]:
        """Names of the inputs that a controller moves."""
        return tuple(self.model.signals.inputs[i] for i in self.moved)

    @cached_property
    def cost(self) -> Cost:
        """What depends on neither state nor reference."""
        signals = self.model.signals
        widths = len(signals.outputs), self.moved, len(signals.inputs)
        return Cost.of(self.horizon, *widths, self.weights, self.limits)

    def programme(
        self,
        carried: ArrayLike,
        reference: ArrayLike,
        previous: ArrayLike,
        plan: ArrayLike | None = None,
        disturbance: ArrayLike | None = None,
    ) -> QuadraticProgramme:
        """Return the programme of one step.

        Parameters
        ----------
        carried : array, shape (size,)
            What the model carries now: `model.start(state)`, or an estimate of it.
        reference : array, shape (n_outputs,), or (rows, n_outputs) from the next step on
            The last row holds on beyond the end.
        previous : array, shape (l,)
            The input before this step; measured inputs are expected to stay as they are.
        plan : array, shape (horizon, l), optional
            Inputs to linearise around; by default the previous input at every step. The linear form does not need it.
        disturbance : array, shape (size,), optional
            What is added to the prediction at every step; zero by default.

        Raises
        ------
        KoopsieveError
            If a shape does not fit, or a number is not finite.
        """
        size = (len(self.model.carried_names),)
        z, before = shaped("carried", carried, size), per_signal("previous", previous, self.model.signals.inputs)
        planned = np.tile(before, (self.horizon, 1)) if plan is None else plan
        planned = shaped("plan", planned, self.cost.low.shape)
        added = np.zeros(size) if disturbance is None else shaped("disturbance", disturbance, size)
        cost = self.cost.pinned(self.pinned, before[self.pinned]) if len(self.pinned) else self.cost
        return self.assembled(self.prediction(z, added, planned), self.references(reference), before, cost)

    def prediction(
        self, carried: FloatArray, disturbance: FloatArray, plan: FloatArray, path: FloatArray | None = None
    ) -> AffinePrediction:
        """Return future outputs as a function of future inputs: see `linearised_prediction`."""
        if self.model.step_is_linear:
            return self._response.around(carried, disturbance)
        return linearised_prediction(self.model, carried, disturbance, plan, path)

    def assembled(
        self, prediction: AffinePrediction, reference: FloatArray, previous: FloatArray, cost: Cost
    ) -> QuadraticProgramme:
        """Return the programme of a prediction, for a reference (horizon, n_outputs)."""
        lower, upper = bounds(cost, prediction, previous)
        q = gradient(cost, prediction, reference, previous)
        if self.model.step_is_linear:
            return QuadraticProgramme(self._P, q, self._A, lower, upper)
        P, A = hessian(cost, prediction.G), constraint_matrix(cost, prediction.G)
        return QuadraticProgramme(P, q, A, lower, upper)

    def references(self, reference: ArrayLike) -> FloatArray:
        """Return the reference of every step, shape (horizon, n_outputs)."""
        return rows_of("reference", reference, self.model.signals.outputs, self.horizon)

    @cached_property
    def pattern(self) -> tuple[FloatArray, FloatArray]:
        """P and A with a one wherever a number may ever stand."""
        H, n, width = self.horizon, *(len(one) for one in (self.model.signals.outputs, self.model.signals.inputs))
        later = np.kron(np.tri(H), np.ones((n, width))).astype(float)  # an input acts on later outputs only
        A = constraint_matrix(self.cost, later)
        P = np.ones((self.cost.moves, self.cost.moves))
        slack = len(self.cost.limited)
        return np.block([[P, np.zeros((len(P), slack))], [np.zeros((slack, len(P))), np.eye(slack)]]), A != 0

    @cached_property
    def _response(self) -> LinearResponse:
        anywhere = np.zeros(len(self.model.carried_names)), np.zeros(self.cost.low.shape[1])
        return LinearResponse.of(self.model.jacobian(*anywhere), self.horizon)

    @cached_property
    def _P(self) -> FloatArray:
        return hessian(self.cost, self._response.G)

    @cached_property
    def _A(self) -> FloatArray:
        return constraint_matrix(self.cost, self._response.G)


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
        if model.support is None:
            return None
        found = model.support.outside(model.dictionary, self.now.line[None], self.acting[None], self.outputs[None])
        return np.asarray(found[0], dtype=bool)
