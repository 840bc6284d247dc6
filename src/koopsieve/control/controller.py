"""Model predictive control in closed loop: a pure law, and a small object that remembers its state for its user."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, real_array, whole_number
from koopsieve.control.affine_prediction import PathPrediction
from koopsieve.control.control_problem import ControlProblem
from koopsieve.control.kalman import KalmanFilter
from koopsieve.control.limits import in_range, of_kind, per_signal
from koopsieve.control.noise import Noise
from koopsieve.control.solver import Solver
from koopsieve.control.state_estimate import Estimator, Filtered, FromHistory, Situation

MIN_FIRST_ITERATIONS = 5  # at the first step, which has no plan to start from


@dataclass(frozen=True, eq=False)
class ControlState:
    """Memory of a control law between steps.

    Parameters
    ----------
    input : array, shape (l,)
        The input that acts now.
    plan : array, shape (horizon, l)
        The inputs planned from now on.
    situation : Situation, optional
        Where the plant is; none before the first measurement.
    path : array, shape (horizon + 1, size), optional
        What the model is expected to carry from now on, where the programme depends on it.
    """

    input: FloatArray
    plan: FloatArray
    situation: Situation | None = None
    path: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class ControlLaw:
    """State and measurement in, input and state out.

    Parameters
    ----------
    problem : ControlProblem
        What to minimise, from `Model.to_qp`.
    estimator : Estimator
        How the situation follows from measurements.
    iterations : int
        Number of times per step that the programme is built around the last plan and solved. One is enough in the
        linear form, and in the others as long as the plan of the last step is near this one.
    tolerance : float
        Tolerance of the solver.
    """

    problem: ControlProblem
    estimator: Estimator
    iterations: int = 1
    tolerance: float = 1e-5

    def __post_init__(self) -> None:
        whole_number("iterations", self.iterations, 1)
        in_range("tolerance, that of the solver,", self.tolerance, 0.0, 1.0, open_ends=True)

    def start(self, acting: ArrayLike = 0.0) -> ControlState:
        """Return the state before the first measurement; `acting` is the input that acts then."""
        shape, given = self.problem.shape, real_array("acting", acting)
        u = self._inputs("acting", np.full(shape.inputs, given) if given.ndim == 0 else given)
        return ControlState(u, np.tile(u, (shape.horizon, 1)))

    def step(
        self, state: ControlState, measured: ArrayLike, reference: ArrayLike, acted: ArrayLike | None = None
    ) -> ControlState:
        """Return the state with the input to apply until the next measurement; see `Controller.step`."""
        y = per_signal("measured", measured, self.problem.model.signals.outputs)
        u = state.input if acted is None else self._inputs("acted", acted)
        situation = self._situation(state, u, y)
        if state.situation is None or self.problem.same_at_every_step:
            planned = ControlState(u, np.tile(u, (len(state.plan), 1)), situation)
        else:
            path = None if state.path is None or not np.isfinite(state.path).all() else _shifted(state.path)
            planned = ControlState(u, _shifted(state.plan), situation, path)
        for _ in range(self._repetitions(state)):
            planned = self._improved(situation, planned, u, reference)
        return planned

    def _repetitions(self, state: ControlState) -> int:
        if self.problem.same_at_every_step:
            return 1
        return self.iterations if state.situation is not None else max(self.iterations, MIN_FIRST_ITERATIONS)

    def _situation(self, state: ControlState, acted: FloatArray, measured: FloatArray) -> Situation:
        if state.situation is not None:
            return self.estimator.update(state.situation, acted, measured)
        embedding = self.problem.model.signals.embedding
        past = [np.tile(measured, embedding.state_delays + 1), np.tile(acted, embedding.input_delays)]
        return self.estimator.start(np.concatenate(past))

    def _improved(
        self, now: Situation, planned: ControlState, acting: FloatArray, reference: ArrayLike
    ) -> ControlState:
        """Return the plan that solves the programme around this one; inputs are within their limits exactly."""
        shape = self.problem.shape
        with np.errstate(over="ignore", invalid="ignore"):  # a model that diverges is refused by the solver
            prediction = self.problem.prediction(now.carried, now.disturbance, planned.plan, planned.path)
            programme = self.problem.assembled(prediction, reference, acting)
        start = np.zeros(len(programme.q))
        start[: shape.moves] = planned.plan.ravel()
        found = self._solver.solve(programme, start)[: shape.moves].reshape(planned.plan.shape)
        before = np.clip(acting, shape.low, shape.high)  # as in `quadratic.bounds`
        found[0] = np.clip(found[0], before - shape.steps, before + shape.steps)
        plan = np.clip(found, shape.low, shape.high)
        path = prediction.path(plan) if isinstance(prediction, PathPrediction) else None
        return ControlState(plan[0], plan, now, path)

    @cached_property
    def _solver(self) -> Solver:
        return Solver(self.problem.pattern, self.problem.same_at_every_step, self.tolerance)

    def _inputs(self, what: str, given: ArrayLike) -> FloatArray:
        return per_signal(what, given, self.problem.model.signals.inputs)


@dataclass(eq=False)
class Controller:
    """A control law that remembers: measurement and reference in, input out.

    This object changes with every step. `law.step(state, …)` is the same without memory.

    Parameters
    ----------
    problem : ControlProblem
        What to minimise, from `Model.to_qp`.
    noise : Noise, optional
        Of plant and measurement, for example `noise_of(model, statistics)`; with it a Kalman filter estimates the state
        and the disturbance. Without it the state is the measured history.
    gain : float
        Without `noise`: share of the newest one-step error that goes into the disturbance.
    drift : float
        With `noise`: rate of change of the disturbance, see `KalmanFilter`.
    iterations, tolerance
        See `ControlLaw`.
    acting : float or array, shape (l,)
        The input that acts at the first measurement.
    """

    problem: ControlProblem
    noise: Noise | None = None
    gain: float = 0.2
    drift: float = 0.03
    iterations: int = 1
    tolerance: float = 1e-5
    acting: ArrayLike = 0.0
    law: ControlLaw = field(init=False)
    state: ControlState = field(init=False)

    def __post_init__(self) -> None:
        of_kind("The problem of a controller", self.problem, ControlProblem, "model.to_qp(horizon=20)")
        model = self.problem.model
        estimator: Estimator = (
            FromHistory(model, self.gain)
            if self.noise is None
            else Filtered(KalmanFilter(model, self.noise, self.drift))
        )
        self.law = ControlLaw(self.problem, estimator, self.iterations, self.tolerance)
        self.reset(self.acting)

    def reset(self, acting: ArrayLike = 0.0) -> None:
        """Forget everything; `acting` is the input that acts at the next measurement."""
        self.state = self.law.start(acting)

    def step(self, measured: ArrayLike, reference: ArrayLike, acted: ArrayLike | None = None) -> FloatArray:
        """Return the input to apply from this measurement to the next.

        Parameters
        ----------
        measured : array, shape (n_outputs,)
            The newest outputs.
        reference : array, shape (n_outputs,), or (rows, n_outputs)
            Where the outputs should be from the next measurement on; the last row holds on.
        acted : array, shape (l,), optional
            The input that really acted since the last measurement, if it was not the one returned then.

        Returns
        -------
        array, shape (l,)

        Raises
        ------
        KoopsieveError
            If shapes do not fit, OSQP is not installed, or there is no input within the limits.
        """
        self.state = self.law.step(self.state, measured, reference, acted)
        return self.state.input


def _shifted(planned: FloatArray) -> FloatArray:
    """Return the rest of a plan or path, its last row once more."""
    return np.concatenate([planned[1:], planned[-1:]])
