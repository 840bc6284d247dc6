"""Figures for papers and notebooks: functions of a result and an axes that return the axes."""

from koopsieve.plots.dependency_plots import plot_coefficients, plot_condensation, plot_graph, plot_inclusion
from koopsieve.plots.figure import new_axes, save_figure
from koopsieve.plots.result_plots import (
    plot_coverage,
    plot_eigenvalues,
    plot_error_against_horizon,
    plot_path,
    plot_summary,
)
from koopsieve.plots.time_plots import plot_prediction, plot_simulation

__all__ = [
    "new_axes",
    "plot_coefficients",
    "plot_condensation",
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
