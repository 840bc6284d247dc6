"""The control problem of a model: what `Model.to_qp` returns, and what controllers are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, KoopsieveError, real_array, whole_number
from koopsieve.control.affine_prediction import AffinePrediction, LinearResponse, linearised_prediction
from koopsieve.control.limits import Limits, Weights, of_kind, per_signal, shaped
from koopsieve.control.programme import ProgrammeShape, QuadraticProgramme, bounds, constraint_matrix, gradient, hessian
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

    Raises
    ------
    KoopsieveError
        If the model has no inputs, or weights and limits do not fit its signals.
    """

    model: Model
    horizon: int
    weights: Weights = field(default_factory=Weights)
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not self.model.signals.inputs:
            raise KoopsieveError("The model has no inputs, so there is nothing to control.")
        whole_number("horizon, the number of steps,", self.horizon, 1)
        of_kind("weights", self.weights, Weights, "Weights(outputs=1.0, rates=0.1)")
        of_kind("limits", self.limits, Limits, "Limits(inputs=(-1.0, 1.0))")
        _ = self.shape  # so that settings that do not fit show here

    @cached_property
    def shape(self) -> ProgrammeShape:
        """What depends on neither state nor reference."""
        signals = self.model.signals
        return ProgrammeShape.of(self.horizon, len(signals.outputs), len(signals.inputs), self.weights, self.limits)

    @property
    def same_at_every_step(self) -> bool:
        """Tell whether P and A never change."""
        return self.model.step_is_linear

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
            The input before this step.
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
        planned = shaped("plan", planned, (self.horizon, self.shape.inputs))
        added = np.zeros(size) if disturbance is None else shaped("disturbance", disturbance, size)
        return self.assembled(self.prediction(z, added, planned), reference, before)

    def prediction(
        self, carried: FloatArray, disturbance: FloatArray, plan: FloatArray, path: FloatArray | None = None
    ) -> AffinePrediction:
        """Return future outputs as a function of future inputs: see `linearised_prediction`."""
        if self.same_at_every_step:
            return self._response.around(carried, disturbance)
        return linearised_prediction(self.model, carried, disturbance, plan, path)

    def assembled(self, prediction: AffinePrediction, reference: ArrayLike, previous: FloatArray) -> QuadraticProgramme:
        """Return the programme of a prediction."""
        lower, upper = bounds(self.shape, prediction, previous)
        q = gradient(self.shape, prediction, self.references(reference), previous)
        if self.same_at_every_step:
            return QuadraticProgramme(self._P, q, self._A, lower, upper)
        P, A = hessian(self.shape, prediction.G), constraint_matrix(self.shape, prediction.G)
        return QuadraticProgramme(P, q, A, lower, upper)

    def references(self, reference: ArrayLike) -> FloatArray:
        """Return the reference of every step, shape (horizon, n_outputs)."""
        given, n = np.atleast_1d(real_array("reference", reference)), self.shape.outputs
        rows = given[None] if given.ndim == 1 and given.size == n else given[:, None] if given.ndim == 1 else given
        if rows.ndim != 2 or rows.shape[1] != n or not len(rows) or not np.isfinite(rows).all():
            raise KoopsieveError(
                f"reference must be finite, one value per output ({', '.join(self.model.signals.outputs[:6])}). "
                f"Expected ({n},) or (rows, {n}), got {np.shape(reference)}."
            )
        return rows[np.minimum(np.arange(self.horizon), len(rows) - 1)]

    @cached_property
    def pattern(self) -> tuple[FloatArray, FloatArray]:
        """P and A with a one wherever a number may ever stand."""
        H, n, width = self.shape.horizon, self.shape.outputs, self.shape.inputs
        later = np.kron(np.tri(H), np.ones((n, width))).astype(float)  # an input acts on later outputs only
        A = constraint_matrix(self.shape, later)
        P = np.ones((self.shape.moves, self.shape.moves))
        slack = len(self.shape.limited)
        return np.block([[P, np.zeros((len(P), slack))], [np.zeros((slack, len(P))), np.eye(slack)]]), A != 0

    @cached_property
    def _response(self) -> LinearResponse:
        anywhere = np.zeros(len(self.model.carried_names)), np.zeros(self.shape.inputs)
        return LinearResponse.of(self.model.jacobian(*anywhere), self.horizon)

    @cached_property
    def _P(self) -> FloatArray:
        return hessian(self.shape, self._response.G)

    @cached_property
    def _A(self) -> FloatArray:
        return constraint_matrix(self.shape, self._response.G)
