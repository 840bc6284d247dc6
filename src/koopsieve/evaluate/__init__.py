"""Stage seven: how good a model is, in numbers and in words."""

from koopsieve.evaluate.horizon_errors import WindowErrors, window_errors
from koopsieve.evaluate.judgement import (
    Diagnostics,
    Errors,
    diagnose,
    free_run,
    judge,
    simulation_errors,
    simulation_rmse,
    stays_in_range,
)
from koopsieve.evaluate.metrics import add_noise, horizon_nmse, nmse

__all__ = [
    "Diagnostics",
    "Errors",
    "WindowErrors",
    "add_noise",
    "diagnose",
    "free_run",
    "horizon_nmse",
    "judge",
    "nmse",
    "simulation_errors",
    "simulation_rmse",
    "stays_in_range",
    "window_errors",
]
