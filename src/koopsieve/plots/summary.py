"""One figure that tells the story of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koopsieve.plots.eigenvalues import plot_eigenvalues
from koopsieve.plots.error import plot_error_against_horizon
from koopsieve.plots.figure import new_figure
from koopsieve.plots.inclusion import plot_inclusion
from koopsieve.plots.path import plot_path
from koopsieve.plots.prediction import plot_prediction
from koopsieve.workflow import SieveResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_summary(result: SieveResult, title: str | None = None) -> Figure:
    """Draw what drives what, what that does to the error at every horizon, a typical prediction, and the eigenvalues.

    Parameters
    ----------
    result : SieveResult
    title : str, optional
        By default it says how many observables were kept.

    Returns
    -------
    Figure
        Save it with `figure.savefig(…)`.
    """
    figure = new_figure(13.0 if result.path is None else 18.0, 9.0)
    grid = figure.add_gridspec(2, 2 if result.path is None else 3, height_ratios=(1.15, 1))
    plot_inclusion(result, figure.add_subplot(grid[0, 0])).set_title("which observable drives which", fontsize=10)
    plot_error_against_horizon(result, figure.add_subplot(grid[0, 1])).set_title("error against horizon", fontsize=10)
    plot_prediction(result, figure.add_subplot(grid[1, 0])).set_title("a typical prediction", fontsize=10)
    plot_eigenvalues(result, figure.add_subplot(grid[1, 1])).set_title("eigenvalues", fontsize=10)
    if result.path is not None:
        plot_path(result.path, figure.add_subplot(grid[:, 2])).set_title("error against size", fontsize=10)
    kept = f"{len(result.retained)} of {result.dictionary.size} observables kept"
    figure.suptitle(title or kept, fontsize=14)
    return figure
