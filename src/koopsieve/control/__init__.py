"""Model predictive control with a model of any form: quadratic programmes, state estimates, a controller.

Comes in: a model, weights and limits. Goes out: programmes in OSQP's form, or inputs step by step. OSQP is imported
when the first programme is solved.
"""

from koopsieve.control.control_problem import ControlProblem, Plan, PlanStatus
from koopsieve.control.controller import ControlLaw, Controller, ControlState
from koopsieve.control.kalman import Belief, KalmanFilter
from koopsieve.control.limits import Limits, Weights
from koopsieve.control.predictor import Predictor
from koopsieve.control.programme import QuadraticProgramme
from koopsieve.control.state_estimate import Innovations
from koopsieve.uncertainty.noise import Noise, noise_of

__all__ = [
    "Belief",
    "ControlLaw",
    "ControlProblem",
    "ControlState",
    "Controller",
    "Innovations",
    "KalmanFilter",
    "Limits",
    "Noise",
    "Plan",
    "PlanStatus",
    "Predictor",
    "QuadraticProgramme",
    "Weights",
    "noise_of",
]
