"""Figures of a simulated system: sizes, one-step errors, errors at horizons, condition numbers (paper, 5.1 and 5.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.experiments.comparison import FULL, REDUCED
from koopsieve.experiments.figure_style import (
    close_above,
    curve,
    legend_above,
    name_panels,
    panels,
    save,
    styled,
)
from koopsieve.plots.figure import METHODS, log_axis, look_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Summary = Mapping[str, Any]
_SNR = "signal-to-noise ratio (dB)"
_NEVER = float("inf")
_ONE_STEP_TOP, _HORIZON_TOP, _KAPPA_TOP = 100.0, 100.0, 1e30  # what lies above is marked on the upper edge


def draw_noise_study(summary: Summary, folder: Path) -> None:
    """Draw and write all figures of a simulated system."""
    with styled():
        save(draw_sizes(summary), folder, "reduced_size")
        save(draw_one_step(summary), folder, "one_step")
        save(draw_horizons(summary), folder, "long_term")
        save(draw_condition_numbers(summary), folder, "condition_number")


def draw_sizes(summary: Summary) -> Figure:
    """Draw how many observables are kept at each level of noise, for every threshold."""
    figure, axes = panels(1, 1, 3.6, 2.7)
    one = axes[0, 0]
    for threshold, look in zip(summary["reduced_size"], METHODS.values(), strict=False):
        mean, half = (_numbers(summary[key][threshold]) for key in ("reduced_size", "reduced_size_ci95"))
        curve(one, summary["snr_db"], mean, half, _NEVER, label=f"ε = {threshold}", **look)
    one.axhline(summary["full_size"], color="0.4", linewidth=0.8)
    one.annotate(
        "full dictionary",
        (0.02, summary["full_size"]),
        xycoords=("axes fraction", "data"),
        va="bottom",
        fontsize=8,
        color="0.3",
    )
    one.set(xlabel=_SNR, ylabel="observables kept", ylim=(0, 1.12 * summary["full_size"]))
    one.legend()
    return figure


def draw_one_step(summary: Summary) -> Figure:
    """Draw one-step errors against the level of noise: training above, test below, full left, reduced right."""
    figure, axes = panels(2, 2, 6.8, 4.8, sharex=True, sharey=True)
    for row, part in enumerate(("train", "test")):
        for column, size in enumerate((FULL, REDUCED)):
            values, half = (summary[key][size] for key in ("one_step", "one_step_ci95"))
            _methods(axes[row, column], summary["snr_db"], values, half, itemgetter(part), ceiling=_ONE_STEP_TOP)
            axes[row, column].set_title(f"{size} dictionary, {'training' if part == 'train' else 'test'} data")
        axes[row, 0].set_ylabel(f"one-step NMSE of {summary['state']}")
    close_above(axes.ravel(), _ONE_STEP_TOP)
    for one in axes[1]:
        one.set_xlabel(_SNR)
    legend_above(figure, axes[0, 0])
    name_panels(axes.ravel())
    return figure


def draw_horizons(summary: Summary) -> Figure:
    """Draw errors against the prediction horizon, full left and reduced right."""
    figure, axes = panels(1, 2, 6.8, 2.9, sharey=True)
    for one, size in zip(axes[0], (FULL, REDUCED), strict=True):
        values, half = (summary[key][size] for key in ("long_term", "long_term_ci95"))
        if all(values.values()):
            _methods(one, summary["horizons"], values, half, lambda entry: entry, ceiling=_HORIZON_TOP)
        log_axis(one, "x", summary["horizons"])
        one.margins(x=0.12)  # marks of several methods lie side by side
        one.axhline(1.0, color="0.4", linewidth=0.8)
        one.set(title=f"{size} dictionary, {summary['horizon_snr_db']:g} dB", xlabel="prediction horizon (samples)")
    axes[0, 0].set_ylabel(f"NMSE of {summary['state']}, test data")
    close_above(axes[0], _HORIZON_TOP)
    legend_above(figure, axes[0, 0])
    name_panels(axes[0])
    return figure


def draw_condition_numbers(summary: Summary) -> Figure:
    """Draw the mean condition numbers against the level of noise, full left and reduced right."""
    figure, axes = panels(1, 2, 6.8, 2.9, sharey=True)
    for one, size in zip(axes[0], (FULL, REDUCED), strict=True):
        values, half = (summary[key][size] for key in ("condition_number", "condition_number_ci95"))
        _methods(one, summary["snr_db"], values, half, lambda entry: entry, ceiling=_KAPPA_TOP)
        one.set(title=f"{size} dictionary", xlabel=_SNR)
    axes[0, 0].set_ylabel("mean condition number of Aᵀ")
    close_above(axes[0], _KAPPA_TOP)
    legend_above(figure, axes[0, 0])
    name_panels(axes[0])
    return figure


def _methods(
    axes: Axes,
    x: Sequence[float],
    values: Mapping[str, Any],
    half: Mapping[str, Any],
    pick: Callable[[Any], Sequence[float]],
    ceiling: float,
) -> None:
    log_axis(axes, "y")
    for method, entry in values.items():
        mean, width = _numbers(pick(entry)), _numbers(pick(half[method]))
        curve(axes, x, mean, width, ceiling, label=method, **look_of(method))


def _numbers(values: Sequence[float]) -> FloatArray:
    return np.array(values, dtype=float)
