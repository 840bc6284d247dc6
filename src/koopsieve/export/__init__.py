"""Models for other programs: C, CasADi, do-mpc, quadratic programmes, state-space objects and files.

Functions here take anything that predicts like a model (see `protocols`); the models' methods call them.
"""

from koopsieve.export.mpc import (
    ControlLaw,
    Controller,
    ControlProblem,
    KalmanFilter,
    Limits,
    Noise,
    Weights,
    noise_of,
)

__all__ = ["ControlLaw", "ControlProblem", "Controller", "KalmanFilter", "Limits", "Noise", "Weights", "noise_of"]
