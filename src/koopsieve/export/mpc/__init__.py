"""Model predictive control with a model of any form: quadratic programmes, state estimates, a controller.

Comes in: a model, weights and limits. Goes out: programmes in OSQP's form, or inputs step by step. OSQP is imported
when the first programme is solved.
"""

from koopsieve.export.mpc.controller import ControlLaw, Controller, ControlState
from koopsieve.export.mpc.kalman import Belief, KalmanFilter
from koopsieve.export.mpc.noise import Noise, noise_of
from koopsieve.export.mpc.problem import ControlProblem
from koopsieve.export.mpc.quadratic import QuadraticProgramme
from koopsieve.export.mpc.settings import Limits, Weights

__all__ = [
    "Belief",
    "ControlLaw",
    "ControlProblem",
    "ControlState",
    "Controller",
    "KalmanFilter",
    "Limits",
    "Noise",
    "QuadraticProgramme",
    "Weights",
    "noise_of",
]
