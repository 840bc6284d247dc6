"""Stage seven: how good a model is, in numbers and in words."""

from koopsieve.evaluate.baselines import linear_baseline, persistence
from koopsieve.evaluate.calibration import calibrate
from koopsieve.evaluate.coverage import Coverage, CoverageCurve, coverage, coverage_curve, interval_score
from koopsieve.evaluate.diagnostics import Diagnostics, diagnose
from koopsieve.evaluate.free_runs import free_run, simulation_errors, stays_in_range
from koopsieve.evaluate.judgement import Errors, judge, simulation_rmse
from koopsieve.evaluate.metrics import add_noise, horizon_nmse, nmse, snr_db
from koopsieve.evaluate.windows import WindowErrors, window_errors

__all__ = [
    "Coverage",
    "CoverageCurve",
    "Diagnostics",
    "Errors",
    "WindowErrors",
    "add_noise",
    "calibrate",
    "coverage",
    "coverage_curve",
    "diagnose",
    "free_run",
    "horizon_nmse",
    "interval_score",
    "judge",
    "linear_baseline",
    "nmse",
    "persistence",
    "simulation_errors",
    "simulation_rmse",
    "snr_db",
    "stays_in_range",
    "window_errors",
]
