"""Figures for papers and notebooks: functions of a result and an axes that return the axes."""

from koopsieve.plots.error import plot_error_against_horizon
from koopsieve.plots.figure import new_axes, save_figure
from koopsieve.plots.inclusion import plot_inclusion

__all__ = ["new_axes", "plot_error_against_horizon", "plot_inclusion", "save_figure"]
