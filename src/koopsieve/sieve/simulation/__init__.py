"""The simulation sieve: terms sifted by how well a model simulates, whatever its structure."""

from koopsieve.sieve.simulation.levenberg_marquardt import FitStatus, LeastSquaresFit, LevenbergMarquardt
from koopsieve.sieve.simulation.simulation_problem import FittedSet, SimulationProblem
from koopsieve.sieve.simulation.simulation_sieve import SimulationSieve
from koopsieve.sieve.simulation.windows import Structure, WindowFit, Windows, draw_windows

__all__ = [
    "FitStatus",
    "FittedSet",
    "LeastSquaresFit",
    "LevenbergMarquardt",
    "SimulationProblem",
    "SimulationSieve",
    "Structure",
    "WindowFit",
    "Windows",
    "draw_windows",
]
