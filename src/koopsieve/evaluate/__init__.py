"""Stage seven: how good a model is, in numbers and in words."""

from koopsieve.evaluate.diagnostics import Diagnostics, diagnose
from koopsieve.evaluate.metrics import add_noise, horizon_nmse, nmse, snr_db
from koopsieve.evaluate.windows import WindowErrors, window_errors

__all__ = [
    "Diagnostics",
    "WindowErrors",
    "add_noise",
    "diagnose",
    "horizon_nmse",
    "nmse",
    "snr_db",
    "window_errors",
]
