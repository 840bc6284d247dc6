"""The paper's figures: sizes, errors, conditioning of simulated systems (5.1, 5.2); heat maps of the circuit (5.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._json import json_number
from koopsieve._types import FloatArray
from koopsieve.plots.figure import METHODS, log_axis, style_of, tick_text
from koopsieve.reproduction.figure_style import close_above, curve, legend_above, name_panels, panels, save, styled
from koopsieve.reproduction.method_comparison import FULL, REDUCED
from koopsieve.reproduction.study_tables import source_in_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Summary = Mapping[str, Any]
_SNR = "signal-to-noise ratio (dB)"
_NO_CEILING = float("inf")
_ONE_STEP_TOP, _HORIZON_TOP, _KAPPA_TOP = 100.0, 100.0, 1e30  # what lies above is marked on the upper edge
_CIRCUIT_TOP = 1e3  # errors of the circuit above are marked on the upper edge
_STRENGTHS = (1e-8, 1e-4, 1.0, 1e4, 1e8)  # ticks of the colours
_ZERO_COLOUR = "0.6"  # grey, as in the paper
_MIN_DECADE, _MAX_DECADE = -9.0, 9.0  # decades of |K| that the colours span


def draw_noise_study(summary: Summary, folder: Path) -> None:
    """Draw and write all figures of a simulated system."""
    with styled():
        save(draw_sizes(summary), folder, "reduced_size")
        save(draw_one_step(summary), folder, "one_step")
        save(draw_horizons(summary), folder, "long_term")
        save(draw_condition_numbers(summary), folder, "condition_number")


def draw_sizes(summary: Summary) -> Figure:
    """Draw the number of observables kept at each level of noise, for every threshold."""
    figure, axes = panels(1, 1, 3.6, 2.7)
    one = axes[0, 0]
    for threshold, style in zip(summary["reduced_size"], METHODS.values(), strict=False):
        mean, half = (_numbers(summary[key][threshold]) for key in ("reduced_size", "reduced_size_ci95"))
        curve(one, summary["snr_db"], mean, half, _NO_CEILING, label=f"ε = {threshold}", **style)
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
        curve(axes, x, mean, width, ceiling, label=method, **style_of(method))


def _numbers(values: Sequence[float]) -> FloatArray:
    return np.array(values, dtype=float)


def draw_circuit(summary: Summary, coefficients: Mapping[str, Any], folder: Path) -> None:
    """Draw and write all figures of the Wiener–Hammerstein system."""
    with styled():
        for size in (FULL, REDUCED):
            save(draw_heat_maps(summary, coefficients[size], size), folder, f"heat_maps_{size}")
        save(draw_circuit_errors(summary), folder, "long_term")


def draw_heat_maps(summary: Summary, coefficients: Mapping[str, Any], size: str) -> Figure:
    """Draw |K| of every method: rows are regressors (the last is the input), columns targets, grey means zero."""
    from matplotlib.colors import LogNorm

    figure, axes = panels(1, len(coefficients), 1.75 * len(coefficients) + 0.9, 2.6, sharey=True)
    for one, (method, rows) in zip(axes[0], coefficients.items(), strict=True):
        K = np.abs([[json_number(value) for value in row] for row in rows])
        image = one.imshow(
            np.ma.masked_equal(K, 0.0),
            norm=LogNorm(10**_MIN_DECADE, 10**_MAX_DECADE),
            cmap="viridis",
            interpolation="nearest",
            aspect="auto",
            extent=(0.5, K.shape[1] + 0.5, K.shape[0] + 0.5, 0.5),
        )
        one.set(title=method, facecolor=_ZERO_COLOUR, xlabel="target")
        one.grid(visible=False)
        _whole_numbers(one, K.shape)
    axes[0, 0].set_ylabel("regressor (last: input)")
    bar = figure.colorbar(image, ax=axes, extend="both")
    bar.set_ticks(_STRENGTHS, labels=[tick_text(strength) for strength in _STRENGTHS])
    bar.set_label("|K|")
    figure.suptitle(f"{summary['title']}: {size} dictionary\n{source_in_title(summary['source'])}", fontsize=9)
    return figure


def draw_circuit_errors(summary: Summary) -> Figure:
    """Draw our errors as lines with open marks and the paper's as filled marks, full left and reduced right."""
    figure, axes = panels(1, 2, 6.8, 3.3, sharey=True)
    for one, size in zip(axes[0], (FULL, REDUCED), strict=True):
        one.set(xlabel="prediction horizon (samples)", title=f"{size} dictionary")
        _draw_beside_paper(one, summary, size)
        one.axhline(1.0, color="0.4", linewidth=0.8)
        log_axis(one, "x", summary["horizons"])
        log_axis(one, "y")
        one.set_ylim(bottom=1e-2)
    close_above(axes[0], _CIRCUIT_TOP)
    axes[0, 0].set_ylabel("NMSE of y, test multisine")
    legend_above(
        figure,
        axes[0, 1],
        title=f"lines, open marks: {source_in_title(summary['source'])}\nfilled marks, to the right: the paper",
    )
    name_panels(axes[0])
    return figure


def _draw_beside_paper(axes: Axes, summary: Summary, size: str) -> None:
    horizons = np.array(summary["horizons"])
    for method, values in summary["long_term"][size].items():
        mean = np.array(values, dtype=float)
        curve(
            axes, summary["horizons"], mean, np.full(len(mean), np.nan), _CIRCUIT_TOP, label=method, **style_of(method)
        )
        paper = np.array(summary["paper"]["long_term"][size].get(method, [np.nan] * len(mean)), dtype=float)
        style = {key: style_of(method)[key] for key in ("color", "marker")}
        axes.plot(
            1.14 * horizons, np.where(paper < _CIRCUIT_TOP, paper, np.nan), linestyle="none", markersize=3.5, **style
        )


def _whole_numbers(axes: Any, shape: tuple[int, int]) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins=4, integer=True, min_n_ticks=1))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True, min_n_ticks=1))
    axes.set(xlim=(0.5, shape[1] + 0.5), ylim=(shape[0] + 0.5, 0.5))
