"""One figure with the results of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koopsieve.plots.dependency_plots import plot_inclusion
from koopsieve.plots.eigenvalue_plot import plot_eigenvalues
from koopsieve.plots.error_plots import plot_error_against_horizon, plot_path
from koopsieve.plots.figure import legend, new_figure
from koopsieve.plots.time_plots import plot_prediction
from koopsieve.sifting.result import Sifted, result_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_summary(given: Sifted, title: str | None = None) -> Figure:
    """Draw the choice of the size, errors beside the baselines, a prediction, what drives what, and the eigenvalues.

    Parameters
    ----------
    given : SieveResult or fitted KoopmanSieve
    title : str, optional
        By default the number of terms kept.

    Returns
    -------
    Figure
        Save it with `figure.savefig(…)`.
    """
    result = result_of(given)
    figure = new_figure(16.0, 9.5)
    grid = figure.add_gridspec(2, 3)
    titles = {
        "error against size": plot_path(result, figure.add_subplot(grid[0, 0])),
        "error against horizon": plot_error_against_horizon(result, figure.add_subplot(grid[0, 1])),
        "a typical prediction": plot_prediction(result, figure.add_subplot(grid[0, 2])),
        "what drives what": plot_inclusion(result, figure.add_subplot(grid[1, :2])),
        "eigenvalues": plot_eigenvalues(result, figure.add_subplot(grid[1, 2])),
    }
    for heading, axes in titles.items():
        of = f" of the {axes.get_title()}" if heading == "eigenvalues" and axes.get_title() else ""
        axes.set_title(f"{heading}{of}", fontsize=11)
        legend(axes, below=True)
    kept = f"{len(result.retained)} of {result.path.candidates} terms kept, {result.form} form"
    figure.suptitle(title or kept, fontsize=14)
    return figure
