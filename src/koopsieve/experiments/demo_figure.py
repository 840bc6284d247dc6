"""The figure of the demonstration: free runs beside what was measured, and how large their errors are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from koopsieve._words import number
from koopsieve.dictionary.formulas import formulas
from koopsieve.plots import plot_simulation
from koopsieve.plots.figure import MODELS, as_text, new_figure
from koopsieve.sieve.result import EVERYTHING, LINEAR, SIFTED, SieveResult
from koopsieve.sieve.views import contenders

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SECONDS = 40.0  # of the record that are drawn
TITLE = "A spring that hardens, pushed by a force. Only its position is measured, with noise."


def draw_demo(result: SieveResult) -> Figure:
    """Draw the record with free runs of the models along it, and beside it the errors over the whole record."""
    figure = new_figure(11.0, 4.2)
    left, right = figure.subplots(1, 2, width_ratios=[2.6, 1.0])
    plot_simulation(result, left, seconds=SECONDS)
    handles, labels = left.get_legend_handles_labels()
    plain = [label.split(" (")[0] for label in labels]
    left.legend(handles, plain, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False, fontsize=9)
    left.set_xlabel("time / s; each model is given the first samples and the force, and nothing else")
    draw_errors_of_runs(result, right)
    texts = formulas(result.model.dictionary)
    kept = ",  ".join(as_text(texts.get(name, name)) for name in result.retained_names)
    figure.suptitle(f"{TITLE}\nOf {result.path.candidates} candidate terms {len(result.retained)} are kept: {kept}")
    return figure


def draw_errors_of_runs(result: SieveResult, ax: Axes) -> None:
    """Draw the root mean square error of free runs, one bar per model; a model that diverged has no bar but a word."""
    output = result.model.output_names[0]
    shown = [one for one in contenders(result) if one.label in (LINEAR, EVERYTHING, SIFTED)]
    errors = np.array([one.errors.simulation_rmse[output] for one in shown])
    widths = np.where(np.isfinite(errors), errors, 0.0)
    ax.barh(np.arange(len(shown)), widths, color=[MODELS[one.label]["color"] for one in shown], height=0.6)
    for place, (error, width) in enumerate(zip(errors, widths, strict=True)):
        said = number(float(error)) if np.isfinite(error) else "diverged"
        ax.annotate(said, (width, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=9)
    words = [f"{one.label}\n{one.terms} terms" for one in shown]
    ax.set_yticks(np.arange(len(shown)), words)
    ax.set_xlim(0, 1.25 * max(float(widths.max()), 1e-12))
    ax.invert_yaxis()
    ax.set_title("error of the free run", fontsize=10)
    ax.set_xlabel(f"RMSE of the {as_text(output)}, whole record")
    ax.grid(alpha=0.25, axis="x")
