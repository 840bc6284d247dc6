"""The reprojected form and the simulation sieve: models that are lifted anew at each step, sifted by simulation."""

from koopsieve.sieve.simulation.bilinear import LiftedWindows
from koopsieve.sieve.simulation.bilinear_fit import LiftedFit, MultiStepBilinear
from koopsieve.sieve.simulation.box import Box, box_around
from koopsieve.sieve.simulation.levenberg_marquardt import Fit, FitStatus, LevenbergMarquardt
from koopsieve.sieve.simulation.problem import Point, SimulationProblem
from koopsieve.sieve.simulation.protocol import Regressors
from koopsieve.sieve.simulation.search import Search
from koopsieve.sieve.simulation.simulate import Reprojected
from koopsieve.sieve.simulation.simulation_sieve import SimulationPath, SimulationSieve
from koopsieve.sieve.simulation.window_fit import WindowFit
from koopsieve.sieve.simulation.windows import Windows, draw_windows

__all__ = [
    "Box",
    "Fit",
    "FitStatus",
    "LevenbergMarquardt",
    "LiftedFit",
    "LiftedWindows",
    "MultiStepBilinear",
    "Point",
    "Regressors",
    "Reprojected",
    "Search",
    "SimulationPath",
    "SimulationProblem",
    "SimulationSieve",
    "WindowFit",
    "Windows",
    "box_around",
    "draw_windows",
]
