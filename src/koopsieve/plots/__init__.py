"""Figures for papers and notebooks: functions of a result and an axes that return the axes."""

from koopsieve.plots.calibration import plot_coverage
from koopsieve.plots.eigenvalues import plot_eigenvalues
from koopsieve.plots.error import plot_error_against_horizon
from koopsieve.plots.figure import new_axes, save_figure
from koopsieve.plots.graph import plot_graph
from koopsieve.plots.inclusion import plot_inclusion
from koopsieve.plots.path import plot_path
from koopsieve.plots.prediction import plot_prediction
from koopsieve.plots.simulation import plot_simulation
from koopsieve.plots.summary import plot_summary

__all__ = [
    "new_axes",
    "plot_coverage",
    "plot_eigenvalues",
    "plot_error_against_horizon",
    "plot_graph",
    "plot_inclusion",
    "plot_path",
    "plot_prediction",
    "plot_simulation",
    "plot_summary",
    "save_figure",
]
